import { z } from 'zod';
import type { Answer as Declared } from '../../api/answers.ts';
import { answersOf } from '../../api/answers.ts';
import type { HeaderName } from '../../api/headers.ts';
import { headers } from '../../api/headers.ts';
import type { Route } from '../../api/route.ts';
import { routes } from '../../api/routes/table.ts';
import { errorAnswers } from '../../contract/answers.ts';
import { errors } from '../../contract/errors.ts';

/** An exchange with the API, as a client saw it. */
export interface Exchange {
  method: string;
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

/** Where an answer is not what the table of routes declares, a line each; none for other servers. */
export const undeclared = (exchange: Exchange): string[] => {
  // Not by URL, which would tidy up what a hostile client sends.
  const pathname = exchange.url.replace(/^https?:\/\/[^/]+/, '').split(/[?#]/, 1)[0] ?? '';
  if (!pathname.startsWith('/api/')) return [];
  const problems = candidatesOf(exchange, pathname).map((declared) => [
    ...headerProblems(exchange, declared),
    ...contentProblems(exchange, declared),
  ]);
  const place = `${exchange.method} ${pathname} ${exchange.status}`;
  // The nearest one says best what is wrong.
  const [best] = problems.toSorted((one, other) => one.length - other.length);
  return (best ?? ['is not declared']).map((problem) => `${place}: ${problem}`);
};

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
const patterns = Object.values<Route>(routes).map((route) => ({
  route,
  pattern: patternOf(route.path),
}));

/** The declared answers that may be meant: those of the route, the status and the code. */
const candidatesOf = ({ method, status, text }: Exchange, pathname: string): Declared[] => {
  const rows = patterns.filter(({ pattern }) => pattern.test(pathname)).map(({ route }) => route);
  const code = /^\{"error":\{"code":"(\w+)"/.exec(text)?.[1];
  const row = rows.find((route) => route.method === (method === 'HEAD' ? 'GET' : method));
  const declared = row ? answersOf(row) : rows[0] ? unmatchedOf(rows[0]) : nothing;
  return declared.filter(
    (answer) => answer.status === status && (code === undefined || code === answer.code),
  );
};

/** What a path can answer to a method it does not have. */
const unmatchedOf = (route: Route) =>
  answersOf(route).filter(({ code }) =>
    ['METHOD_NOT_ALLOWED', 'INTERNAL', 'SERVICE_UNAVAILABLE'].includes(code ?? ''),
  );

/** What a path that does not exist can answer. */
const nothing: Declared[] = [
  {
    status: errors.NOT_FOUND.status,
    code: 'NOT_FOUND',
    description: '',
    requiredHeaders: ['x-request-id'],
    optionalHeaders: [],
    content: errorAnswers.NOT_FOUND,
    examples: {},
    links: [],
  },
];

const headerProblems = (exchange: Exchange, declared: Declared): string[] =>
  (Object.keys(headers) as HeaderName[]).flatMap((name) => {
    const value = exchange.headers.get(name);
    const isRequired = declared.requiredHeaders.includes(name);
    if (value === null) return isRequired ? [`has no ${name}`] : [];
    if (!isRequired && !declared.optionalHeaders.includes(name))
      return [`has ${name}, which is not declared`];
    return headers[name].schema.safeParse(value).success ? [] : [`${name} is ${value}`];
  });

const contentProblems = (exchange: Exchange, { content }: Declared): string[] => {
  const { method, text } = exchange;
  const type = exchange.headers.get('content-type') ?? '';
  if (content === undefined) return text === '' ? [] : ['has a body'];
  if (content instanceof z.ZodType) {
    if (type !== 'application/json; charset=utf-8') return [`is ${type}`];
    if (method === 'HEAD') return [];
    const parsed = content.safeParse(JSON.parse(text));
    return parsed.error ? [z.prettifyError(parsed.error)] : [];
  }
  if (content === 'page' && type !== 'text/html; charset=utf-8') return [`is ${type}`];
  const isPage = method === 'HEAD' || /^<!doctype html>/i.test(text);
  return content === 'page' && !isPage ? ['is not a page'] : [];
};
