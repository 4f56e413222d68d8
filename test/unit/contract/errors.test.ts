import { describe, expect, it } from 'vitest';
import { errors, PaymentError } from '../../../contract/errors.ts';

describe('PaymentError', () => {
  it('carries its code, its details and its cause', () => {
    const cause = new Error('inner');
    const error = new PaymentError('RATE_LIMITED', 'Too many requests.', {
      cause,
      details: { retry_after: 7 },
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'PaymentError',
      code: 'RATE_LIMITED',
      message: 'Too many requests.',
      details: { retry_after: 7 },
      cause,
    });
  });

  it('has the meaning of its code as its message if it is given none', () => {
    const error = new PaymentError('NOT_FOUND', undefined, { details: { retry_after: 7 } });
    expect(error).toMatchObject({ message: errors.NOT_FOUND.meaning, details: { retry_after: 7 } });
  });

  it('has no details unless they are given', () => {
    expect(new PaymentError('NOT_FOUND', 'There is nothing here.').details).toBeUndefined();
  });
});
