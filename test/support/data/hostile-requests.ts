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
const nastyTexts = fc.constantFrom(
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
);
const piece = fc.oneof(escaped, asciiText, nastyTexts);

/** Header values that HTTP allows. */
const headerText = fc.oneof(
  fc.stringMatching(/^[\x20-\x7e]{0,80}$/),
  fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,40}$/),
);

const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json(),
  fc.json().map((text) => `\ufeff${text}`),
  fc.json().map((text) => text.slice(0, -1)),
  fc.constantFrom(
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
  ),
);

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
        'content-type': fc.oneof(
          fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/plain'),
          fc.constantFrom('application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'),
          headerText,
        ),
        'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'x'),
        'idempotency-key': headerText,
        accept: headerText,
        'x-request-id': headerText,
        'x-forwarded-host': headerText,
      },
      { requiredKeys: [] },
    ),
    body: bodies,
  });
