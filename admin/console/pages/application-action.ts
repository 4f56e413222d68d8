import { html } from 'hono/html';
import { applicationFacts } from '../../operations/facts.ts';
import { type Action, hasSecret, type Question } from '../actions.ts';
import { codedState, link, type Html } from '../html.ts';
import type { ConsoleResponse, PersonRequest } from '../request.ts';

type Description = Omit<Question, 'back' | 'facts'> & Partial<Pick<Question, 'facts'>>;

interface ApplicationAction extends Pick<Action, 'role' | 'isSensitive' | 'owner'> {
  /** The path below that of the application. */
  path: string;
  /** Its facts are those beside the application's. */
  describe: (slug: string, request: PersonRequest) => Description | Promise<Description>;
  execute: (
    slug: string,
    request: PersonRequest,
    reason: string,
  ) => Promise<ConsoleResponse | void>;
}

/** A change of one application, whose page it leads back to. */
export const applicationAction = ({
  path,
  describe,
  execute,
  ...access
}: ApplicationAction): Action => ({
  ...access,
  path: `/applications/:slug/${path}`,
  confirm: async (request) => {
    const { slug } = request.params;
    const application = await request.operations.applications.get(slug);
    const { facts, ...question } = await describe(slug, request);
    const { Status: _, ...known } = applicationFacts(application);
    return {
      ...question,
      facts: {
        Application: link(pathOf(slug), slug),
        Status: codedState('application', application.status),
        ...known,
        ...facts,
      },
      back: pathOf(slug),
    };
  },
  execute: (request, reason) => execute(request.params.slug, request, reason),
});

export const pathOf = (slug: string): string => `/applications/${slug}`;

/** The text of a field, unless it is a secret. */
export const text = ({ form }: PersonRequest, name: string): string => {
  const typed = form.get(name)?.trim() ?? '';
  return hasSecret(typed) ? '' : typed;
};

/** The typed value, or else the value that is set now. */
export const typedOr = (request: PersonRequest, name: string, now: string): string =>
  request.form.has(name) ? text(request, name) : now;

/** Never filled in: the query of the address may be a key. */
export const webhookUrlField = (label: string): Html =>
  html`<label>
    ${label}
    <input type="url" name="url" maxlength="2000" autocomplete="off" placeholder="https://" />
  </label>`;

export const webhookUrlOf = (request: PersonRequest): string | null => {
  const url = request.form.get('url')?.trim() ?? '';
  return url === '' ? null : url;
};

export const linesOf = (request: PersonRequest, name: string): string[] =>
  text(request, name)
    .split(/\s+/)
    .filter((line) => line !== '');

/** A callback URL may be long, and an application may have several. */
export const callbacksField = (typed: string): Html =>
  html`<label>
    Callback URLs, one in a line; the first is the default
    <textarea name="callbacks" rows="3" maxlength="4000" spellcheck="false" required>${typed}</textarea>
  </label>`;
