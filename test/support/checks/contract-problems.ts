import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';
import { z } from 'zod';
import { declaredResponses, type DeclaredResponse } from '../../../api/http/declared-responses.ts';
import { responseHeaders, type HeaderName } from '../../../api/http/response-headers.ts';
import type { Route } from '../../../api/http/route.ts';
import { payerPath } from '../../../api/payer/link.ts';
import { routes } from '../../../api/routes.ts';
import { errorResponses } from '../../../contract/error-responses.ts';
import { errors, fieldRules, type ErrorDetails } from '../../../contract/errors.ts';

/** A request to the API and its response, as a client sees them. */
export interface Exchange {
  method: string;
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

/** A declared response, and the operation that declares it. */
interface Candidate {
  operation: string;
  declared: DeclaredResponse;
}

/**
 * Compares a response with the table of routes. Records the declared response that it matches, for
 * every-declared-response.ts.
 * @returns a line for each difference; none for a URL outside of the API
 */
export const contractProblems = (exchange: Exchange): string[] => {
  // `new URL` would normalize the paths of hostile requests.
  const pathname = payerPath(
    exchange.url.replace(/^https?:\/\/[^/]+/, '').split(/[?#]/, 1)[0] ?? '',
  );
  if (!pathname.startsWith('/api/')) return [];
  const compared = candidates(exchange, pathname).map((candidate) => ({
    candidate,
    problems: [
      ...headerProblems(exchange, candidate.declared),
      ...contentProblems(exchange, candidate.declared),
    ],
  }));
  for (const { candidate, problems } of compared) if (problems.length === 0) record(candidate);
  const [closest] = compared.toSorted((a, b) => a.problems.length - b.problems.length);
  const place = `${exchange.method} ${pathname} ${exchange.status}`;
  return (closest?.problems ?? ['is not declared']).map((problem) => `${place}: ${problem}`);
};

const recorded = new Set<string>();

const record = ({ operation, declared }: Candidate) => {
  const name = responseName(operation, declared);
  if (recorded.has(name)) return;
  recorded.add(name);
  appendFileSync(inject('answersFile'), `${name}\n`);
};

const responseName = (operation: string, { status, code }: DeclaredResponse) =>
  `${operation} ${status} ${code ?? ''}`.trim();

/** The names of all responses that the table of routes declares. */
export const declaredResponseNames = (): string[] =>
  Object.entries<Route>(routes).flatMap(([operation, route]) =>
    declaredResponses(route).map((declared) => responseName(operation, declared)),
  );

const rows = Object.entries<Route>(routes).map(([operation, route]) => ({
  operation,
  route,
  declared: declaredResponses(route),
  pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
}));

/** The declared responses with the route, the status and the code of an exchange. */
const candidates = ({ method, status, text }: Exchange, pathname: string): Candidate[] => {
  const atPath = rows.filter(({ pattern }) => pattern.test(pathname));
  const row = atPath.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method));
  const declaredAtPath = (row ? [row] : atPath).flatMap(({ operation, declared: all }) =>
    (row ? all : responsesToOtherMethods(all)).map((declared) => ({ operation, declared })),
  );
  const code = /^\{"error":\{"code":"(\w+)"/.exec(text)?.[1];
  return (atPath.length > 0 ? declaredAtPath : [unknownPath]).filter(
    ({ declared }) => declared.status === status && (code === undefined || code === declared.code),
  );
};

/** The responses of a path to a method that it does not support. */
const responsesToOtherMethods = (declared: readonly DeclaredResponse[]) =>
  declared.filter(({ code }) =>
    ['METHOD_NOT_ALLOWED', 'INTERNAL', 'SERVICE_UNAVAILABLE'].includes(code ?? ''),
  );

const unknownPath: Candidate = {
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

const headerProblems = (exchange: Exchange, declared: DeclaredResponse): string[] =>
  (Object.keys(responseHeaders) as HeaderName[]).flatMap((name) => {
    const value = exchange.headers.get(name);
    const isRequired = declared.requiredHeaders.includes(name);
    if (value === null) return isRequired ? [`has no ${name}`] : [];
    if (!isRequired && !declared.optionalHeaders.includes(name))
      return [`has ${name}, which is not declared`];
    return responseHeaders[name].schema.safeParse(value).success ? [] : [`${name} is ${value}`];
  });

const undeclaredRules = (text: string): string[] => {
  const { error } = JSON.parse(text) as { error?: { details?: ErrorDetails } };
  return (error?.details?.fields ?? [])
    .filter(({ rule }) => !fieldRules.includes(rule))
    .map(({ rule }) => `has the rule ${rule}, which is not declared`);
};

const contentProblems = (exchange: Exchange, { content }: DeclaredResponse): string[] => {
  const { method, text } = exchange;
  const type = exchange.headers.get('content-type') ?? '';
  if (content === undefined) return text === '' ? [] : ['has a body'];
  if (content instanceof z.ZodType) {
    if (type !== 'application/json; charset=utf-8') return [`is ${type}`];
    if (method === 'HEAD') return [];
    const parsed = content.safeParse(JSON.parse(text));
    return parsed.error ? [z.prettifyError(parsed.error)] : undeclaredRules(text);
  }
  if (content === 'page' && type !== 'text/html; charset=utf-8') return [`is ${type}`];
  const isPage = method === 'HEAD' || /^<!doctype html>/i.test(text);
  return content === 'page' && !isPage ? ['is not a page'] : [];
};
