import { createHash, randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import {
  hasCardNumber,
  hasSecret,
  problemOfReason,
  reasonMax,
  Refusal,
} from '../operations/change.ts';
import type { ConsoleRole } from '../../postgres/console/logins.ts';
import { ownPath } from './begun-login.ts';
import { copyable, escapeControls, type Html, notice, type Row } from './html.ts';
import type { Waiting } from './waiting.ts';
import type { ConsoleResponse, Owner, PersonRequest, Route } from './request.ts';
import { page, pathWith, redirect } from './request.ts';
import { unusedText } from './unused.ts';

export { hasSecret };

export interface Question {
  title: string;
  /** The consequence, in whole sentences. */
  consequence: string;
  button: string;
  /** The thing that one signs for. Empty: there is none yet. */
  facts: Row;
  /** The change does this to the payments to come. It is made once the person was shown this for what the form holds. */
  warning?: string | null;
  /** The page that it leads back to. */
  back: string;
  fields?: Html;
  /** The person types this name, because the change cannot be taken back. */
  typedName?: string;
  /** It stops something for others. */
  isDangerous?: boolean;
  /** It harms nobody, so it may go without a reason. */
  isHarmless?: boolean;
  /** Says on the page that it leads back to what was done. */
  done: string;
}

/** A change by a person: a page asks for confirmation, and its form makes the change. */
export interface Action {
  path: string;
  role: ConsoleRole;
  isSensitive?: boolean;
  owner?: Owner;
  confirm: (request: PersonRequest) => Promise<Question>;
  /** @returns a page that is shown once, or nothing: then the page it came from shows the new state */
  execute: (request: PersonRequest, reason: string) => Promise<ConsoleResponse | void>;
}

const form = (
  question: Question,
  { csrf, cells, form: given }: PersonRequest,
  { problem, path }: { problem?: string; path?: string } = {},
): ConsoleResponse => {
  const {
    title,
    consequence,
    button,
    back,
    facts,
    fields,
    typedName,
    warning,
    isHarmless = false,
  } = question;
  const looks = question.isDangerous || typedName !== undefined ? 'danger' : 'main';
  const reason = given.get('reason') ?? '';
  return page(
    title,
    html`${problem === undefined ? '' : notice('bad', problem)}
      <form class="form" method="post" ${path === undefined ? '' : html`action="${path}"`}>
        <input type="hidden" name="csrf" value="${csrf}" />
        <input type="hidden" name="form_id" value="${randomUUID()}" />
        <p>${escapeControls(consequence)}</p>
        ${
          warning
            ? html`${notice('bad', warning)}
                <input type="hidden" name="warned" value="${choiceIn(given)}" />`
            : ''
        }
        ${Object.keys(facts).length > 0 ? cells.facts(facts) : ''} ${fields ?? ''}
        ${
          typedName === undefined
            ? ''
            : html`<label>
                <span>This cannot be taken back. Type “<bdi>${escapeControls(typedName)}</bdi>” to confirm it</span>
                <input name="confirm" autocomplete="off" spellcheck="false" required />
              </label>`
        }
        <label>
          Reason, for the audit log${isHarmless ? '; may be empty' : ''}
          <textarea name="reason" rows="2" maxlength="${reasonMax}" ${isHarmless ? '' : html`required`}>${hasSecret(reason) || hasCardNumber(reason) ? '' : reason}</textarea>
        </label>
        <div class="actions">
          <button class="${looks}">${button}</button>
          <a class="button" href="${back}">Cancel</a>
        </div>
      </form>`,
    problem === undefined ? 200 : 409,
  );
};

/**
 * Fields whose text may hold a secret. Credentials are not recorded, and a webhook URL is recorded without its
 * query.
 */
const unrecorded = new Set(['url', 'credentials']);

/** A hash of what the person has chosen in the form: the fields may be secret. */
const choiceIn = (given: URLSearchParams): string => {
  const others = new Set(['csrf', 'form_id', 'reason', 'confirm', 'back', 'warned']);
  const chosen = [...given].filter(([name]) => !others.has(name));
  return createHash('sha256')
    .update(String(new URLSearchParams(chosen)))
    .digest('base64url');
};

const problemWith = (question: Question, { form: given }: PersonRequest): string | undefined => {
  const reason = given.get('reason')?.trim() ?? '';
  if (reason === '' && !question.isHarmless) return 'Say why: the audit log keeps the reason.';
  if ([...given].some(([name, value]) => !unrecorded.has(name) && hasSecret(value)))
    return 'The form holds a token or a secret, which the audit log would keep. Nothing was recorded.';
  const problem = problemOfReason(reason);
  if (problem !== undefined) return problem;
  if (question.typedName !== undefined && given.get('confirm') !== question.typedName)
    return `The name that you typed is not “${question.typedName}”.`;
  if (question.warning && given.get('warned') !== choiceIn(given))
    return `Nothing was changed yet. Read what it does, then press “${question.button}” again.`;
  return undefined;
};

const rememberedForms = 10_000;
const formIdMaxLength = 36;

/**
 * The last forms that were sent, in less than a megabyte. A browser that loads the answer again sends its form
 * again, and would issue a second token.
 */
const createUsedForms = () => {
  const ids = new Set<string>();
  return {
    has: (id: string): boolean => ids.has(id),
    add(id: string): void {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > rememberedForms && oldest !== undefined) ids.delete(oldest);
    },
  };
};

/** Each action has two routes: GET asks for confirmation, POST makes the change. */
export const actionRoutes = (waiting: Waiting, actions: readonly Action[]): Route[] => {
  const usedForms = createUsedForms();
  return actions.flatMap(
    ({ path, role, isSensitive = false, owner, confirm: ask, execute }): Route[] => {
      const common = { path, role, isSensitive, owner };
      // A change is of what the address says, and of all that it says.
      const confirm = async (request: PersonRequest): Promise<Question> => {
        const question = await ask(request);
        const problem = request.query.problem();
        if (problem !== null) throw new Refusal(unusedText(problem));
        return question;
      };
      const show = async (request: PersonRequest): Promise<ConsoleResponse> =>
        form(await confirm(request), request);
      const act = async (request: PersonRequest): Promise<ConsoleResponse> => {
        const question = await confirm(request);
        const problem = problemWith(question, request);
        if (problem !== undefined) return form(question, request, { problem });
        const formId = (request.form.get('form_id') ?? '').slice(0, formIdMaxLength);
        // A button that repeats safely has none.
        if (formId !== '' && usedForms.has(formId))
          return page(
            'Already done',
            html`<p>This form was sent before, and what it did stays done. A secret is shown only once.
              <a href="${question.back}">Go back</a>.</p>`,
            409,
          );
        usedForms.add(formId);
        const reason = request.form.get('reason')?.trim() ?? '';
        const back = request.form.has('back') ? ownPath(request.form.get('back')) : question.back;
        const change = async (): Promise<ConsoleResponse> => {
          try {
            return (await execute(request, reason)) ?? redirect(back, question.done);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            // The page that waits has an address of its own.
            const own = `${pathWith(path, request.params)}?${String(request.query)}`;
            return form(question, request, { problem: error.message, path: own });
          }
        };
        const { title } = question;
        return waiting.orShow({ name: request.session.name, title, back, answer: change() });
      };
      return [
        { method: 'GET', ...common, handle: show },
        { method: 'POST', ...common, keepsForm: true, handle: act },
      ];
    },
  );
};

/** A button that makes a harmless change at once. The form is in the layout. */
export const atOnce = (path: string, label: string): Html =>
  html`<button form="at-once" formaction="${path}">${label}</button>`;

/** A page with a secret that nobody can read again. */
export const secretPage = (
  title: string,
  name: string,
  secret: string,
  back: string,
  /** What usually follows. */
  next: Html | '' = '',
): ConsoleResponse =>
  page(
    title,
    html`${notice('good', 'Copy it now: it cannot be shown again.')}
      <dl class="facts">
        <div>
          <dt>${name}</dt>
          <dd><code>${secret}</code></dd>
        </div>
      </dl>
      <div class="actions">
        ${copyable(secret, 'Copy it')} ${next}
        <a class="button" href="${back}">Done</a>
      </div>`,
  );
