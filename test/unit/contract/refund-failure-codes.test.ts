import { expect, it } from 'vitest';
import {
  isRefundFailureCode,
  refundFailureReason,
  refundFailureReasons,
} from '../../../contract/refund-failure-codes.ts';

it('knows its own codes, and gives a newer one the sentence of an unknown reason', () => {
  expect(Object.keys(refundFailureReasons).every(isRefundFailureCode)).toBe(true);
  for (const text of ['', 'toString', '__proto__', 'Unknown', 'newer']) {
    expect(isRefundFailureCode(text)).toBe(false);
    expect(refundFailureReason(text)).toBe(refundFailureReasons.unknown);
  }
  expect(refundFailureReason('disputed')).toBe(refundFailureReasons.disputed);
});
