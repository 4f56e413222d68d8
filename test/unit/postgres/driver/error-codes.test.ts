import { describe, expect, it } from 'vitest';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';

const errorWith = (code: string) => Object.assign(new Error('It failed'), { code });

describe('isPostgresUnavailable', () => {
  it.each([
    'CONNECT_TIMEOUT',
    'CONNECTION_CLOSED',
    'CONNECTION_ENDED',
    'CONNECTION_DESTROYED',
    'ECONNREFUSED',
    'ECONNRESET',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EAI_FAIL',
    'EPIPE',
    'ETIMEDOUT',
    'NO_ANSWER',
    'EHOSTUNREACH',
    'ENETUNREACH',
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '53000',
    '53100',
    '53200',
    '58030',
    '57014',
    '25006',
  ])('is true for %s', (code) => {
    expect(isPostgresUnavailable(errorWith(code))).toBe(true);
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
