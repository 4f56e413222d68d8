import { html } from 'hono/html';
import type { Application, NewApplication } from '../../../postgres/applications/applications.ts';
import type { Settings } from '../../operations/application-setting.ts';
import {
  newSettings,
  type Setting,
  settings,
  settingsPages,
} from '../../operations/application-settings.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import type { Html } from '../html.ts';
import type { PersonRequest } from '../request.ts';
import { applicationAction, linesOf, text, typedOr } from './application-action.ts';

type Now = Partial<Settings> & Pick<Application, 'slug'>;

/** Begins with what was typed, or else with the value that is set now. */
const fieldOf = async (setting: Setting, request: PersonRequest, now: Now): Promise<Html> => {
  const { field, fieldLabel, input, isRequired, write, show } = setting;
  const typed = typedOr(request, field, write(now).join('\n'));
  const labelled = (control: Html): Html => html`<label>${fieldLabel} ${control}</label>`;
  switch (input.kind) {
    case 'choice':
      return select(fieldLabel, field, { choices: input.choices, chosen: typed });
    case 'gateway': {
      const gateways = await request.operations.gateways.choices();
      const notes = [...gateways].flatMap(([slug, problem]) => (problem ? [[slug, problem]] : []));
      return select(fieldLabel, field, {
        choices: [...gateways.keys()],
        chosen: typed,
        notes: Object.fromEntries(notes),
      });
    }
    case 'number':
      return labelled(
        html`<input type="number" name="${field}" min="1" max="${input.max}" value="${typed}" required />`,
      );
    case 'text':
      return labelled(
        html`<input name="${field}" maxlength="${input.max}" value="${typed}" placeholder="${show({ slug: now.slug })}" />`,
      );
    case 'lines':
      return labelled(
        html`<textarea name="${field}" rows="4" maxlength="${input.max}" autocomplete="off" autocapitalize="off" spellcheck="false" ${isRequired ? html`required` : ''}>${typed}</textarea>`,
      );
    case 'url':
      // Never filled in: the query of the address may be a key.
      return labelled(
        html`<input type="url" name="${field}" maxlength="2000" autocomplete="off" placeholder="https://" />`,
      );
  }
};

const fieldsOf = async (of: readonly Setting[], request: PersonRequest, now: Now): Promise<Html> =>
  html`${await Promise.all(of.map((setting) => fieldOf(setting, request, now)))}`;

const wordsIn = ({ field, input }: Setting, request: PersonRequest): string[] => {
  if (input.kind === 'lines') return linesOf(request, field);
  const typed =
    input.kind === 'url' ? (request.form.get(field)?.trim() ?? '') : text(request, field);
  return typed === '' ? [] : [typed];
};

const valuesIn = (of: readonly Setting[], request: PersonRequest): Partial<Settings> =>
  Object.assign({}, ...of.map((setting) => setting.read(wordsIn(setting, request))));

/** The pages that change the settings of an application, in the order of its facts. */
export const applicationSettings: readonly Action[] = settingsPages.map((page) => {
  const { path, settings: changed, title, consequence, remark, isSensitive = false, done } = page;
  return applicationAction({
    path,
    role: 'admin',
    isSensitive,
    describe: async (slug, request) => {
      const application = await request.operations.applications.get(slug);
      const sent = changed.filter(({ field }) => request.form.has(field));
      const typed = valuesIn(sent, request);
      return {
        title: title(slug),
        consequence: `${consequence}${remark?.(application) ?? ''}`,
        button: 'Change',
        warning: await request.operations.consequences.ofSettings(slug, typed),
        done: done(slug, changed[0]?.show({ ...application, ...typed }) ?? ''),
        fields: await fieldsOf(changed, request, application),
      };
    },
    execute: async (slug, request, reason) => {
      await request.operations.applications.update(slug, valuesIn(changed, request), reason);
    },
  });
});

export const newApplicationFields = (request: PersonRequest): Promise<Html> =>
  fieldsOf(settings, request, { ...newSettings, slug: '' });

/** The values of these fields. */
export const newApplicationSettings = (request: PersonRequest): Omit<NewApplication, 'slug'> =>
  valuesIn(settings, request) as Settings; // Of all settings.
