import { html } from 'hono/html';
import { tokenScopes } from '../../contract/token.ts';
import { Refusal } from '../../operations/change.ts';
import { hideQuery } from '../../operations/webhook-url.ts';
import type { Action } from '../actions.ts';
import { secretPage } from '../actions.ts';
import { select } from '../filters.ts';
import { action, notice, escapeControls, type Html } from '../html.ts';
import type { ConsoleOperations, ConsoleResponse, Deps, PersonRequest } from '../request.ts';
import { page } from '../request.ts';

type WebhookTest = Awaited<ReturnType<ConsoleOperations['testWebhook']>>;

const slugOf = ({ params }: Pick<PersonRequest, 'params'>): string => params['slug'] ?? '';
const backTo = (request: Pick<PersonRequest, 'params'>): string =>
  `/applications/${slugOf(request)}`;

const statusAction = (word: 'Enable' | 'Disable', consequence: string): Action => ({
  path: `/applications/:slug/${word.toLowerCase()}`,
  role: 'admin',
  confirm: async (request) => ({
    title: `${word} the application ${slugOf(request)}`,
    consequence,
    button: word,
    back: backTo(request),
  }),
  execute: async ({ operations, request, reason }) => {
    const status = word === 'Enable' ? 'active' : 'disabled';
    await operations.applications.setStatus(slugOf(request), status, reason);
  },
});

const expiries = { never: null, '30 days': 30, '90 days': 90, '1 year': 365 } as const;
const expiryNames = Object.keys(expiries) as (keyof typeof expiries)[]; // Object.keys widens to string.
const dayMs = 24 * 3_600_000;

const text = (request: PersonRequest, name: string): string => request.form.get(name)?.trim() ?? '';

/** The result of a sample, with what the receiver answered. */
const testResult = (slug: string, { cells }: PersonRequest, test: WebhookTest): ConsoleResponse => {
  const { url, responseStatus, durationMs, errorClass, responseBody, responseTruncated, sent } =
    test;
  return page(
    `The test webhook of ${slug}`,
    html`${
      errorClass === null
        ? notice('good', 'The receiver accepted the sample.')
        : notice('bad', 'The receiver did not accept the sample.')
    }
      ${cells.facts([
        ['Webhook URL', hideQuery(url)],
        ['Status of the answer', responseStatus],
        ['Error', errorClass],
        ['Duration', durationMs === null ? null : `${durationMs} ms`],
      ])}
      ${
        responseBody === null || responseBody === ''
          ? ''
          : html`<h2>Answer${responseTruncated ? ', its beginning' : ''}</h2>
              <pre><bdi>${escapeControls(responseBody)}</bdi></pre>`
      }
      ${
        sent === null
          ? ''
          : html`<details>
              <summary>The bytes of the sample</summary>
              <pre><bdi>${escapeControls(sent)}</bdi></pre>
            </details>`
      }
      <div class="actions">
        ${action(`/applications/${slug}/test-webhook`, 'Send another one')}
        ${action(`/applications/${slug}`, 'Done')}
      </div>`,
  );
};

/** Never filled in: the query of the address may be a key. */
const webhookUrlField = (label: string): Html =>
  html`<label>
    ${label}
    <input type="url" name="url" maxlength="2000" autocomplete="off" placeholder="https://" />
  </label>`;

const webhookUrlOf = (request: PersonRequest): string | null => {
  const url = text(request, 'url');
  return url === '' ? null : url;
};

const linesOf = (request: PersonRequest, name: string): string[] =>
  text(request, name)
    .split(/\s+/)
    .filter((line) => line !== '');

const newApplication = (deps: Deps): Action => ({
  path: '/create-application',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const gateways = await deps.operationsOf(request.session.name).gateways.list();
    return {
      title: 'Create an application',
      consequence:
        'It gets its first webhook secret, which is shown once. It can call the API as soon as you issue a token for it. An application cannot be deleted, only disabled.',
      button: 'Create',
      back: '/applications',
      fields: html`<label>
          Name, of lower-case letters, digits and hyphens
          <input
            name="slug"
            maxlength="50"
            pattern="[a-z0-9]([a-z0-9\\-]*[a-z0-9])?"
            value="${text(request, 'slug')}"
            autocomplete="off"
            spellcheck="false"
            required
          />
        </label>
        ${select('Default gateway', 'gateway', {
          choices: gateways.map(({ slug }) => slug),
          chosen: text(request, 'gateway'),
        })}
        <label>
          Callback URLs, one in a line; the first is the default
          <textarea name="callbacks" rows="2" maxlength="4000" spellcheck="false" required>${text(request, 'callbacks')}</textarea>
        </label>
        ${webhookUrlField('Webhook URL, may be empty')}`,
    };
  },
  execute: async ({ operations, request, reason }) => {
    const { application, secret } = await operations.applications.create(
      {
        slug: text(request, 'slug'),
        defaultGateway: text(request, 'gateway'),
        callbackUrls: linesOf(request, 'callbacks'),
        webhookUrl: webhookUrlOf(request),
      },
      reason,
    );
    const { slug } = application;
    return secretPage(
      `The new application ${slug}`,
      'Webhook secret',
      secret,
      `/applications/${slug}`,
    );
  },
});

const testWebhook: Action = {
  path: '/applications/:slug/test-webhook',
  role: 'operator',
  confirm: async (request) => ({
    title: `Test the webhook of ${slugOf(request)}`,
    consequence:
      'A worker sends one signed event of a payment that does not exist to the webhook URL. It says “test”, its order is “webhook-test”. You see what the receiver answers.',
    button: 'Send',
    back: backTo(request),
  }),
  execute: async ({ operations, request, reason }) =>
    testResult(slugOf(request), request, await operations.testWebhook(slugOf(request), reason)),
};

const disable = statusAction(
  'Disable',
  'The API refuses the next call of every token of this application. Open payments go on, and their webhooks are still delivered.',
);

const enable = statusAction(
  'Enable',
  'The API accepts the calls of this application’s tokens again.',
);

const changeWebhookUrl: Action = {
  path: '/applications/:slug/webhook-url',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: `Change the webhook URL of ${slugOf(request)}`,
    consequence:
      'The next attempt of every delivery goes to the new address, also of events that have ended already. An empty address stops new webhooks.',
    button: 'Change',
    back: backTo(request),
    fields: webhookUrlField('New webhook URL'),
  }),
  execute: async ({ operations, request, reason }) => {
    const webhookUrl = webhookUrlOf(request);
    await operations.applications.update(slugOf(request), { webhookUrl }, reason);
  },
};

const changeBudget: Action = {
  path: '/applications/:slug/budget',
  role: 'admin',
  confirm: async (request) => ({
    title: `Change the budget of ${slugOf(request)}`,
    consequence: 'The API rejects calls beyond this number in each minute.',
    button: 'Change',
    back: backTo(request),
    fields: html`<label>
      Requests a minute
      <input type="number" name="budget" min="1" max="1000000" required />
    </label>`,
  }),
  execute: async ({ operations, request, reason }) => {
    const requestsPerMinute = Number(text(request, 'budget'));
    if (!Number.isInteger(requestsPerMinute))
      throw new Refusal('The budget is a whole number of requests a minute.');
    await operations.applications.update(slugOf(request), { requestsPerMinute }, reason);
  },
};

const scopeNames = ['all', ...tokenScopes];

const issueToken: Action = {
  path: '/applications/:slug/tokens/issue',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: `Issue a token for ${slugOf(request)}`,
    consequence:
      'Whoever holds the token creates and reads payments of this application, and has events sent again, or only one of these.',
    button: 'Issue',
    back: backTo(request),
    fields: html`<label>
        Name
        <input name="name" maxlength="100" required />
      </label>
      ${select('Mode', 'mode', { choices: ['test', 'live'], chosen: 'test' })}
      ${select('Scopes', 'scopes', { choices: scopeNames, chosen: 'all' })}
      ${select('Expires after', 'expires', { choices: expiryNames, chosen: 'never' })}`,
  }),
  execute: async ({ operations, request, reason }) => {
    const mode = text(request, 'mode') === 'live' ? 'live' : 'test';
    const days = expiries[expiryNames.find((name) => name === text(request, 'expires')) ?? 'never'];
    const wanted = text(request, 'scopes');
    const scopes = tokenScopes.filter((scope) => wanted === 'all' || wanted === scope);
    if (scopes.length === 0) throw new Refusal('The token needs a scope.');
    const token = await operations.tokens.issue(
      {
        application: slugOf(request),
        mode,
        scopes,
        name: text(request, 'name'),
        expiresAt: days === null ? null : new Date(Date.now() + days * dayMs),
      },
      reason,
    );
    return secretPage(
      'The new token',
      `Token of ${slugOf(request)} (${mode})`,
      token,
      backTo(request),
    );
  },
};

const revokeToken: Action = {
  path: '/applications/:slug/tokens/:token/revoke',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: `Revoke a token of ${slugOf(request)}`,
    consequence: 'The API refuses the next call with it. Whatever still uses it stops working.',
    button: 'Revoke',
    back: backTo(request),
    typedName: slugOf(request),
  }),
  execute: async ({ operations, request, reason }) => {
    const id = request.params['token'] ?? '';
    await operations.tokens.revoke({ application: slugOf(request), id }, reason);
  },
};

const rotateSecret: Action = {
  path: '/applications/:slug/secrets/rotate',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: `Rotate the webhook secret of ${slugOf(request)}`,
    consequence:
      'Every webhook is signed with the new secret from now on, and with the old one for 24 hours beside it. Hand the new one over before that.',
    button: 'Rotate',
    back: backTo(request),
  }),
  execute: async ({ operations, request, reason }) => {
    const secret = await operations.secrets.rotate(slugOf(request), reason);
    return secretPage(
      'The new webhook secret',
      `Secret of ${slugOf(request)}`,
      secret,
      backTo(request),
    );
  },
};

const retireSecret: Action = {
  path: '/applications/:slug/secrets/:secret/retire',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: `Retire a webhook secret of ${slugOf(request)}`,
    consequence:
      'The next attempt is not signed with it. A receiver that knows no other secret refuses it.',
    button: 'Retire',
    back: backTo(request),
    typedName: slugOf(request),
  }),
  execute: async ({ operations, request, reason }) => {
    const id = Number(request.params['secret']);
    if (!Number.isSafeInteger(id)) throw new Refusal('There is no such secret.');
    await operations.secrets.retire({ application: slugOf(request), id }, reason);
  },
};

/** The changes of applications, their tokens and their webhook secrets. */
export const applicationActions = (deps: Deps): readonly Action[] => [
  newApplication(deps),
  testWebhook,
  disable,
  enable,
  changeWebhookUrl,
  changeBudget,
  issueToken,
  revokeToken,
  rotateSecret,
  retireSecret,
];
