import { describe, expect, it } from 'vitest';
import {
  failureReason,
  failureReasons,
  isFailureCode,
  nextStep,
} from '../../../contract/failure-codes.ts';
import { adviceTexts } from '../../../contract/payer-advice.ts';
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
    const { suspected_fraud: _, ...others } = failureReasons;
    expect(new Set(Object.values(others)).size).toBe(Object.keys(others).length);
  });

  it('tells a payer of suspected fraud what it tells of a declined card', () => {
    expect(failureReason('suspected_fraud')).toBe(failureReason('card_declined'));
    expect(nextStep('suspected_fraud')).toBe(nextStep('card_declined'));
    expect(adviceTexts.failure_suspected_fraud).toBe(adviceTexts.failure_card_declined);
  });

  it('gives a newer code the step of an unknown reason', () => {
    expect(['from_tomorrow', 'toString'].map(nextStep)).toEqual(['retry', 'retry']);
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
