import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventOf } from '../../../contract/event.ts';
import {
  type FailureCode,
  failureReasons,
  isFailureCode,
} from '../../../contract/failure-codes.ts';
import { eventIdOf } from '../../../contract/ids.ts';
import type { Payment } from '../../../contract/payment.ts';
import { checkoutUrlOf, presentPayment } from '../../../contract/payment.ts';
import { isTerminal, statuses } from '../../../contract/status.ts';
import { isoTime } from '../../../contract/time.ts';

const aPayment = (changes: Partial<Payment> = {}): Payment => ({
  id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  application: 'shop',
  orderId: 'order "1"',
  status: 'pending',
  amount: 999_999_999_999,
  currency: 'EUR',
  gateway: 'sandbox',
  description: null,
  callbackUrl: 'https://shop.example/return',
  metadata: '{}',
  test: true,
  trackingCode: null,
  cardPanMasked: null,
  paidAt: null,
  failureCode: null,
  expiresAt: new Date('2026-11-20T11:11:37.120Z'),
  createdAt: new Date('2026-11-20T10:41:37.123Z'),
  updatedAt: new Date('2026-11-20T10:41:37.000Z'),
  ...changes,
});
const paid = aPayment({
  status: 'paid',
  trackingCode: 'T-77',
  cardPanMasked: '411111******1111',
  paidAt: new Date('2026-11-20T10:45:00.001Z'),
});
const base = 'https://pay.example';
const fieldsOf = (text: string) => Object.keys(JSON.parse(text) as object);

describe('presentPayment', () => {
  it('gives the fields of the contract in their order', () => {
    expect(fieldsOf(presentPayment(aPayment(), base)).join(', ')).toBe(
      'payment_id, application, order_id, status, amount, currency, gateway, description, ' +
        'checkout_url, callback_url, tracking_code, card_pan_masked, paid_at, failure_code, ' +
        'failure_reason, test, metadata, expires_at, created_at, updated_at',
    );
  });

  it('gives a pending payment', () => {
    expect(JSON.parse(presentPayment(aPayment(), base))).toEqual({
      payment_id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
      application: 'shop',
      order_id: 'order "1"',
      status: 'pending',
      amount: 999_999_999_999,
      currency: 'EUR',
      gateway: 'sandbox',
      description: null,
      checkout_url: `${base}/api/v1/payments/PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP/checkout`,
      callback_url: 'https://shop.example/return',
      tracking_code: null,
      card_pan_masked: null,
      paid_at: null,
      failure_code: null,
      failure_reason: null,
      test: true,
      metadata: {},
      expires_at: '2026-11-20T11:11:37.120+00:00',
      created_at: '2026-11-20T10:41:37.123+00:00',
      updated_at: '2026-11-20T10:41:37.000+00:00',
    });
  });

  it('gives what a paid payment brought', () => {
    expect(JSON.parse(presentPayment(paid, base))).toMatchObject({
      status: 'paid',
      tracking_code: 'T-77',
      card_pan_masked: '411111******1111',
      paid_at: '2026-11-20T10:45:00.001+00:00',
    });
  });

  it('explains a failure with the fixed sentence of its code', () => {
    const failed = aPayment({ status: 'failed', failureCode: 'expired_card' });
    expect(JSON.parse(presentPayment(failed, base))).toMatchObject({
      failure_code: 'expired_card',
      failure_reason: 'The card has expired.',
    });
  });
});

describe('metadata', () => {
  const metadata = '{ "b": 1.50, "10": 1e3,\t"2": [ -0 ], "\\u00e9": "\\/" }';

  it('is presented as the very text that was sent', () => {
    expect(presentPayment(aPayment({ metadata }), base)).toContain(
      `"metadata":${metadata},"expires_at"`,
    );
  });

  it('stands in the event as the very text that was sent', () => {
    const { body } = eventOf({ ...paid, metadata }, new Date());
    expect(body.endsWith(`"metadata":${metadata}}`)).toBe(true);
  });
});

describe('checkoutUrlOf', () => {
  it.each(statuses)(
    'a payment that is %s has an address to pay at only until it ended',
    (status) => {
      expect(checkoutUrlOf(aPayment({ status }), base) === null).toBe(isTerminal(status));
    },
  );
});

describe('eventOf', () => {
  const at = new Date('2026-11-20T10:45:00.002Z');
  const ended = [
    paid,
    aPayment({ status: 'failed', failureCode: 'amount_mismatch' }),
    aPayment({ status: 'cancelled' }),
    aPayment({ status: 'expired' }),
  ];

  it.each(ended)(
    'a payment that is $status has all fields of table 6.3 in their order',
    (payment) => {
      const { kind, body } = eventOf(payment, at);
      expect(kind).toBe(`payment.${payment.status}`);
      expect(fieldsOf(body).join(', ')).toBe(
        'event, event_id, created_at, payment_id, application, order_id, status, amount, currency, ' +
          'tracking_code, card_pan_masked, paid_at, failure_code, failure_reason, test, metadata',
      );
    },
  );

  it('tells a paid payment', () => {
    const { id, body, createdAt } = eventOf(paid, at);
    expect(createdAt).toEqual(at);
    expect(JSON.parse(body)).toEqual({
      event: 'payment.paid',
      event_id: id,
      created_at: '2026-11-20T10:45:00.002+00:00',
      payment_id: paid.id,
      application: 'shop',
      order_id: 'order "1"',
      status: 'paid',
      amount: 999_999_999_999,
      currency: 'EUR',
      tracking_code: 'T-77',
      card_pan_masked: '411111******1111',
      paid_at: '2026-11-20T10:45:00.001+00:00',
      failure_code: null,
      failure_reason: null,
      test: true,
      metadata: {},
    });
  });

  it('tells why a payment failed', () => {
    const failed = aPayment({ status: 'failed', failureCode: 'insufficient_funds' });
    expect(JSON.parse(eventOf(failed, at).body)).toMatchObject({
      event: 'payment.failed',
      paid_at: null,
      failure_code: 'insufficient_funds',
      failure_reason: failureReasons.insufficient_funds,
    });
  });

  it('has a reason also for a code that only a newer version knows', () => {
    const failureCode = 'from_tomorrow' as FailureCode;
    const failed = aPayment({ status: 'failed', failureCode });
    for (const text of [presentPayment(failed, 'https://pay.example'), eventOf(failed, at).body])
      expect(JSON.parse(text)).toMatchObject({
        failure_code: 'from_tomorrow',
        failure_reason: failureReasons.unknown,
      });
  });

  it('has the id of its payment, whenever it is made', () => {
    expect(eventOf(paid, at).id).toBe(eventIdOf(paid.id));
    expect(eventOf(paid, new Date(0)).id).toBe(eventIdOf(paid.id));
  });

  it.each(['pending', 'processing'] as const)(
    'does not exist for a payment that is %s',
    (status) => {
      expect(() => eventOf(aPayment({ status }), at)).toThrow('has not ended');
    },
  );
});

describe('isoTime', () => {
  it('always writes milliseconds and +00:00', () => {
    expect(isoTime(new Date('2026-03-01T00:00:00+03:30'))).toBe('2026-02-28T20:30:00.000+00:00');
  });

  it('writes every time as the language does', () => {
    fc.assert(
      fc.property(fc.array(fc.date({ noInvalidDate: true })), (times) => {
        for (const time of times)
          expect(isoTime(time)).toBe(time.toISOString().replace('Z', '+00:00'));
      }),
      { numRuns: 2_000 },
    );
    expect(() => isoTime(new Date(NaN))).toThrow(RangeError);
  });
});

describe('isFailureCode', () => {
  it('knows the codes of the contract', () => {
    expect(Object.keys(failureReasons).join(', ')).toBe(
      'insufficient_funds, card_declined, invalid_card, expired_card, authentication_failed, ' +
        'limit_exceeded, card_not_supported, suspected_fraud, issuer_unavailable, gateway_error, ' +
        'merchant_configuration, amount_mismatch, payment_not_completed, payment_reversed, unknown',
    );
    expect(Object.keys(failureReasons).every(isFailureCode)).toBe(true);
  });

  it.each(['', 'toString', '__proto__', 'Unknown'])('does not know %j', (text) => {
    expect(isFailureCode(text)).toBe(false);
  });

  it('has one English sentence for each', () => {
    for (const reason of Object.values(failureReasons))
      expect(reason).toMatch(/^The [a-z][^.]*\.$/);
    expect(new Set(Object.values(failureReasons)).size).toBe(Object.keys(failureReasons).length);
  });
});
