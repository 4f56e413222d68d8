import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';
import { z } from 'zod';
import type { Answer as Declared } from '../../api/http/responses.ts';
import { responsesOf } from '../../api/http/responses.ts';
import type { HeaderName } from '../../api/http/headers.ts';
import { headers } from '../../api/http/headers.ts';
import type { Route } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { errorResponses } from '../../contract/responses.ts';
import type { ErrorDetails } from '../../contract/errors.ts';
import { errors, fieldRules } from '../../contract/errors.ts';

/** An exchange with the API, as a client saw it. */
export interface GatewayExchange {
  method: string;
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

/** A declared answer with the operation that declares it. */
interface Candidate {
  operation: string;
  declared: Declared;
}

/** Where an answer is not what the table of routes declares, a line each; none for other servers. */
export const undeclared = (exchange: GatewayExchange): string[] => {
  // Not by URL, which would tidy up what a hostile client sends.
  const pathname = exchange.url.replace(/^https?:\/\/[^/]+/, '').split(/[?#]/, 1)[0] ?? '';
  if (!pathname.startsWith('/api/')) return [];
  const judged = candidatesOf(exchange, pathname).map((candidate) => ({
    candidate,
    problems: [
      ...headerProblems(exchange, candidate.declared),
      ...contentProblems(exchange, candidate.declared),
    ],
  }));
  for (const { candidate, problems } of judged) if (problems.length === 0) note(candidate);
  const place = `${exchange.method} ${pathname} ${exchange.status}`;
  // The nearest one says best what is wrong.
  const [best] = judged.toSorted((one, other) => one.problems.length - other.problems.length);
  return (best?.problems ?? ['is not declared']).map((problem) => `${place}: ${problem}`);
};

const noted = new Set<string>();

/** For the end of the whole run, which asks for every answer that is declared: every-answer.ts. */
const note = ({ operation, declared }: Candidate) => {
  const answer = nameOf(operation, declared);
  if (noted.has(answer)) return;
  noted.add(answer);
  appendFileSync(inject('answersFile'), `${answer}\n`);
};

const nameOf = (operation: string, { status, code }: Declared) =>
  `${operation} ${status} ${code ?? ''}`.trim();

/** Every answer that the table of routes declares, by name. */
export const declaredAnswers = (): string[] =>
  Object.entries<Route>(routes).flatMap(([operation, route]) =>
    responsesOf(route).map((declared) => nameOf(operation, declared)),
  );

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
const patterns = Object.entries<Route>(routes).map(([operation, route]) => ({
  operation,
  route,
  pattern: patternOf(route.path),
}));

/** The declared answers that may be meant: those of the route, the status and the code. */
const candidatesOf = ({ method, status, text }: GatewayExchange, pathname: string): Candidate[] => {
  const rows = patterns.filter(({ pattern }) => pattern.test(pathname));
  const code = /^\{"error":\{"code":"(\w+)"/.exec(text)?.[1];
  const row = rows.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method));
  const asked = row ? [row] : rows;
  const candidates = asked.flatMap(({ operation, route }) =>
    (row ? responsesOf(route) : unmatchedOf(route)).map((declared) => ({ operation, declared })),
  );
  return (rows.length > 0 ? candidates : [nothing]).filter(
    ({ declared }) => declared.status === status && (code === undefined || code === declared.code),
  );
};

/** What a path can answer to a method it does not have. */
const unmatchedOf = (route: Route) =>
  responsesOf(route).filter(({ code }) =>
    ['METHOD_NOT_ALLOWED', 'INTERNAL', 'SERVICE_UNAVAILABLE'].includes(code ?? ''),
  );

/** What a path that does not exist can answer. */
const nothing: Candidate = {
  operation: 'nothing',
  declared: {
    status: errors.NOT_FOUND.status,
    code: 'NOT_FOUND',
    description: '',
    requiredHeaders: ['x-request-id'],
    optionalHeaders: [],
    content: errorResponses.NOT_FOUND,
    examples: {},
    links: [],
  },
};

const headerProblems = (exchange: GatewayExchange, declared: Declared): string[] =>
  (Object.keys(headers) as HeaderName[]).flatMap((name) => {
    const value = exchange.headers.get(name);
    const isRequired = declared.requiredHeaders.includes(name);
    if (value === null) return isRequired ? [`has no ${name}`] : [];
    if (!isRequired && !declared.optionalHeaders.includes(name))
      return [`has ${name}, which is not declared`];
    return headers[name].schema.safeParse(value).success ? [] : [`${name} is ${value}`];
  });

/** Rules that the document does not tell. */
const unknownRules = (text: string): string[] => {
  const { error } = JSON.parse(text) as { error?: { details?: ErrorDetails } };
  return (error?.details?.fields ?? [])
    .filter(({ rule }) => !fieldRules.includes(rule))
    .map(({ rule }) => `has the rule ${rule}, which is not declared`);
};

const contentProblems = (exchange: GatewayExchange, { content }: Declared): string[] => {
  const { method, text } = exchange;
  const type = exchange.headers.get('content-type') ?? '';
  if (content === undefined) return text === '' ? [] : ['has a body'];
  if (content instanceof z.ZodType) {
    if (type !== 'application/json; charset=utf-8') return [`is ${type}`];
    if (method === 'HEAD') return [];
    const parsed = content.safeParse(JSON.parse(text));
    return parsed.error ? [z.prettifyError(parsed.error)] : unknownRules(text);
  }
  if (content === 'page' && type !== 'text/html; charset=utf-8') return [`is ${type}`];
  const isPage = method === 'HEAD' || /^<!doctype html>/i.test(text);
  return content === 'page' && !isPage ? ['is not a page'] : [];
};
