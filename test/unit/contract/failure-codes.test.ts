import { describe, expect, it } from 'vitest';
import { failureReasons, isFailureCode } from '../../../contract/failure-codes.ts';

describe('isFailureCode', () => {
  it('accepts the codes that the API publishes', () => {
    expect(Object.keys(failureReasons).join(', ')).toBe(
      'insufficient_funds, card_declined, invalid_card, expired_card, authentication_failed, ' +
        'limit_exceeded, card_not_supported, suspected_fraud, issuer_unavailable, gateway_error, ' +
        'merchant_configuration, amount_mismatch, payment_not_completed, payment_reversed, unknown',
    );
    expect(Object.keys(failureReasons).every(isFailureCode)).toBe(true);
  });

  it.each(['', 'toString', '__proto__', 'Unknown'])('rejects %j', (text) => {
    expect(isFailureCode(text)).toBe(false);
  });

  it('has a sentence of its own for each code', () => {
    for (const reason of Object.values(failureReasons))
      expect(reason).toMatch(/^The [a-z][^.]*\.$/);
    expect(new Set(Object.values(failureReasons)).size).toBe(Object.keys(failureReasons).length);
  });
});
