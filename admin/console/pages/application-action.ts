import { byLabel } from '../../operations/fact.ts';
import { applicationFacts } from '../../operations/facts.ts';
import { type Action, hasSecret, type Question } from '../actions.ts';
import { codedState, link } from '../html.ts';
import type { ConsoleResponse, PersonRequest } from '../request.ts';

type Description = Omit<Question, 'back' | 'facts'> & Partial<Pick<Question, 'facts'>>;

interface ApplicationAction extends Pick<Action, 'role' | 'isSensitive' | 'owner'> {
  /** The path below that of the application. */
  path: string;
  /** Its facts are those of a thing of the application, instead of the application's own. */
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
    const status = codedState('application', application.status);
    return {
      ...question,
      facts: {
        Application: link(pathOf(slug), slug),
        ...(facts
          ? { 'Status of the application': status, ...facts }
          : byLabel(applicationFacts(application), { status })),
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

export const linesOf = (request: PersonRequest, name: string): string[] =>
  text(request, name)
    .split(/\s+/)
    .filter((line) => line !== '');
