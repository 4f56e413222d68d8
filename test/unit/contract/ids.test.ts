import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  eventId,
  newPaymentId,
  refundId,
  refundIdPattern,
  paymentIdPattern,
} from '../../../contract/ids.ts';

describe('newPaymentId', () => {
  it('matches its own pattern and never repeats', () => {
    const ids = Array.from({ length: 1_000 }, newPaymentId);
    expect(ids.filter((id) => !paymentIdPattern.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(1_000);
  });

  it('sorts by the time of its creation', async () => {
    const earlier = newPaymentId();
    await expect
      .poll(newPaymentId)
      .toSatisfy((later: string) => later.slice(0, 14) > earlier.slice(0, 14));
  });

  it('cannot be guessed from the one before: no counter within a millisecond', () => {
    const ids = Array.from({ length: 1_000 }, newPaymentId);
    const ascending = ids.filter((id, index) => index > 0 && id > (ids[index - 1] ?? ''));
    // Monotonic ids would ascend every time, random ones about every second time.
    expect(ascending.length).toBeLessThan(700);
  });
});

it('does not use Math.random', () => {
  const guessable = vi.spyOn(Math, 'random');
  onTestFinished(() => guessable.mockRestore());
  for (let index = 0; index < 100; index += 1) newPaymentId();
  expect(guessable).not.toHaveBeenCalled();
});

it('paymentIdPattern rejects what is no id of a payment', () => {
  const length = ['PAY_01K9Z5W6X7Y8ZABCDEFGHJKMN', 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNPQ'];
  const letters = ['PAY_81K9Z5W6X7Y8ZABCDEFGHJKMNP', 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNI'];
  const cases = ['PAY_01k9z5w6x7y8zabcdefghjkmnp', 'pay_01K9Z5W6X7Y8ZABCDEFGHJKMNP'];
  const space = ['PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP\n', ' PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', ''];
  const all = [...length, ...letters, ...cases, ...space];
  expect(all.filter((text) => paymentIdPattern.test(text))).toEqual([]);
});

it('eventId is the same UUIDv5 for a payment in every release', () => {
  // Receivers detect duplicates by this id.
  expect(eventId('PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP')).toBe('9d413a4a-9bbb-5a2a-abff-29c92712128f');
});

it('makes ids of refunds that no payment has', () => {
  expect(refundId(['shop', 'true', 'key'])).toMatch(refundIdPattern);
  expect(newPaymentId()).not.toMatch(refundIdPattern);
});
