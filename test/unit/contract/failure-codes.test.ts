import { describe, expect, it } from 'vitest';
import { failureReasons, isFailureCode } from '../../../contract/failure-codes.ts';
import {
  isRefundFailureCode,
  refundFailureReason,
  refundFailureReasons,
} from '../../../contract/refund-failure-codes.ts';

describe('isFailureCode', () => {
  it('takes the codes that the API publishes, and no other text', () => {
    expect(Object.keys(failureReasons).every(isFailureCode)).toBe(true);
    expect(['', 'toString', '__proto__', 'Unknown'].filter(isFailureCode)).toEqual([]);
  });

  it('has a sentence of its own for each code', () => {
    for (const reason of Object.values(failureReasons))
      expect(reason).toMatch(/^The [a-z][^.]*\.$/);
    expect(new Set(Object.values(failureReasons)).size).toBe(Object.keys(failureReasons).length);
  });
});

it('a refund knows its own codes, and gives a newer one the sentence of an unknown reason', () => {
  expect(Object.keys(refundFailureReasons).every(isRefundFailureCode)).toBe(true);
  for (const text of ['', 'toString', '__proto__', 'Unknown', 'newer']) {
    expect(isRefundFailureCode(text)).toBe(false);
    expect(refundFailureReason(text)).toBe(refundFailureReasons.unknown);
  }
  expect(refundFailureReason('disputed')).toBe(refundFailureReasons.disputed);
});
