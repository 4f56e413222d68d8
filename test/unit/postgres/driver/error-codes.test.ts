import { describe, expect, it } from 'vitest';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';

const errorWith = (code: string) => Object.assign(new Error('It failed'), { code });

describe('isPostgresUnavailable', () => {
  it.each([
    ['no connection', 'CONNECT_TIMEOUT', 'CONNECTION_ENDED', 'ECONNREFUSED'],
    ['no such host', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EHOSTUNREACH', 'ENETUNREACH'],
    ['a lost connection', 'CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE'],
    ['no answer in time', 'NO_ANSWER', 'ETIMEDOUT', '57014'],
    ['a server that ends, starts or is full', '57P01', '57P02', '57P03', '53300'],
    ['a full or broken disk', '53000', '53100', '53200', '58030'],
    ['a standby', '25006'],
  ])('is true for %s', (_, ...codes) => {
    for (const code of codes) expect(isPostgresUnavailable(errorWith(code)), code).toBe(true);
  });

  it.each(['23505', '42P01', 'UNDEFINED_VALUE', 'ERR_INVALID_ARG_TYPE'])(
    'is false for %s, a fault of the query',
    (code) => {
      expect(isPostgresUnavailable(errorWith(code))).toBe(false);
    },
  );

  it('is false for an error without a code, and for an object that is no error', () => {
    expect(isPostgresUnavailable(new TypeError('x is undefined'))).toBe(false);
    expect(isPostgresUnavailable({ code: 'ECONNREFUSED' })).toBe(false);
  });
});
