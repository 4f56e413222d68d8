import { describe, expect, it } from 'vitest';
import { failureReasons, isFailureCode } from '../../../contract/failure-codes.ts';

describe('isFailureCode', () => {
  it('accepts the codes that the API publishes', () => {
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
