import * as fc from 'fast-check';
import type { RawRequest } from '../servers/raw-http.ts';

/** A request of an attacker; `path` includes the query. */
export interface HostileRequest extends RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
}

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PROPFIND',
] as const;

/** Any bytes, percent-encoded. */
const escaped = fc
  .uint8Array({ maxLength: 24 })
  .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''));
const asciiText = fc.stringMatching(/^[\x21\x24-\x3b\x3d\x40-\x7e]{0,60}$/);
const nastyTexts = [
  '%',
  '%zz',
  '%00',
  '..',
  '%2e%2e%2f',
  "'",
  '%27--',
  '{}',
  '__proto__',
  'constructor',
  '0',
  '-1',
  '1e9',
  'NaN',
  'null',
  'undefined',
  'a'.repeat(4_000),
  '%F0%9F%98%80',
  '%ff',
];
const piece = fc.oneof(escaped, asciiText, fc.constantFrom(...nastyTexts));

/** Header values that HTTP allows. */
const headerText = fc.oneof(
  fc.stringMatching(/^[\x20-\x7e]{0,80}$/),
  fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,40}$/),
);

const nastyBodies = [
  '',
  '{',
  '{}',
  '[]',
  'null',
  '"',
  '{"a":1,"a":2}',
  '{"order_id":"\\ud800"}',
  '{"\\u0000":1}',
  '['.repeat(5_000),
  `{"order_id":"${'x'.repeat(70_000)}"}`,
  '1e999',
  '{"amount":1.0}',
  '{"order_id":"o","amount":1,"currency":"EUR","metadata":{"__proto__":{"a":1}},"x":{}}',
  '{"order_id":"o\\u0000","amount":9007199254740993,"currency":"EUR"}',
  'action=pay&action=cancel&failure_code=%ff',
];
const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json(),
  fc.json().map((text) => `\ufeff${text}`),
  fc.json().map((text) => text.slice(0, -1)),
  fc.constantFrom(...nastyBodies),
);

const contentTypes = [
  ...['application/json', 'application/json; charset=utf-16', 'text/plain'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
];
const encodings = ['gzip', 'br', 'identity', 'x'];
const otherHeaders = ['idempotency-key', 'accept', 'x-request-id', 'x-forwarded-host'];

/**
 * A request for each hostile value in each part; the other parts are right, so that nothing before that part refuses it.
 * @param names of the query
 */
export const hostileInOnePart = (
  right: Omit<HostileRequest, 'body'> & { body: string },
  { template, names }: { template: string; names: readonly string[] },
): HostileRequest[] => {
  const withHeader = (name: string, value: string) => ({
    ...right,
    headers: { ...right.headers, [name]: value },
  });
  const atPath = /:\w+/.test(template)
    ? nastyTexts.map((text) => template.replace(/:\w+/, text))
    : [];
  const paths = [
    ...atPath,
    ...nastyTexts.flatMap((text, n) => [
      `${right.path}?${names[n % names.length] ?? 'a'}=${text}`,
      `${right.path}?${text}=1`,
    ]),
  ];
  return [
    ...paths.map((path) => ({ ...right, path })),
    ...methods.map((method) => ({ ...right, method })),
    ...nastyBodies.map((body) => ({ ...right, body })),
    ...contentTypes.map((type) => withHeader('content-type', type)),
    ...encodings.map((encoding) => withHeader('content-encoding', encoding)),
    ...otherHeaders.flatMap((name) =>
      ['', '"', 'ÿ', '\t', 'x'.repeat(4_000)].map((text) => withHeader(name, text)),
    ),
  ];
};

/** Requests to paths near a route's, with wrong methods, queries, headers and bodies. */
export const hostileRequests = (
  path: string,
  { ids, authorization }: { ids: readonly string[]; authorization: fc.Arbitrary<string> },
): fc.Arbitrary<HostileRequest> =>
  fc.record({
    method: fc.oneof(fc.constantFrom(...methods), fc.constantFrom('GET', 'POST')),
    path: fc
      .tuple(
        fc.oneof(fc.constantFrom(...ids), piece),
        fc.oneof({ weight: 5, arbitrary: fc.constant('') }, piece),
        fc.oneof(
          fc.constant(''),
          fc.tuple(piece, piece).map(([name, value]) => `?${name}=${value}`),
        ),
      )
      .map(([parameter, tail, query]) => `${path.replace(/:\w+/, parameter)}${tail}${query}`),
    headers: fc.record(
      {
        authorization: fc.oneof(authorization, headerText),
        'content-type': fc.oneof(fc.constantFrom(...contentTypes), headerText),
        'content-encoding': fc.constantFrom(...encodings),
        ...Object.fromEntries(otherHeaders.map((name) => [name, headerText])),
      },
      { requiredKeys: [] },
    ),
    body: bodies,
  });
