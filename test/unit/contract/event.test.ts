import { describe, expect, it } from 'vitest';
import { createEvent } from '../../../contract/event.ts';
import { EventBody } from '../../../contract/event-schema.ts';
import { type FailureCode, failureReasons } from '../../../contract/failure-codes.ts';
import { presentPayment } from '../../../contract/payment.ts';
import { examplePayment, paidPayment } from '../../support/data/payments.ts';

const fieldNames = (text: string) => Object.keys(JSON.parse(text) as object);

describe('createEvent', () => {
  const at = new Date('2026-11-20T10:45:00.002Z');
  const ended = [
    paidPayment,
    examplePayment({ status: 'failed', failureCode: 'amount_mismatch' }),
    examplePayment({ status: 'cancelled' }),
    examplePayment({ status: 'expired' }),
  ];

  it.each(ended)('writes all fields in their order for a payment that is $status', (payment) => {
    const { kind, body } = createEvent(payment, at);
    expect(kind).toBe(`payment.${payment.status}`);
    expect(fieldNames(body).join(', ')).toBe(
      'event, event_id, created_at, payment_id, application, order_id, status, amount, currency, ' +
        'tracking_code, card_pan_masked, paid_at, failure_code, failure_reason, test, metadata' +
        (payment.status === 'cancelled' ? ', cancelled_by' : ''),
    );
  });

  it('writes a paid payment', () => {
    const { id, body, createdAt } = createEvent(paidPayment, at);
    expect(createdAt).toEqual(at);
    expect(JSON.parse(body)).toEqual({
      event: 'payment.paid',
      event_id: id,
      created_at: '2026-11-20T10:45:00.002+00:00',
      payment_id: paidPayment.id,
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

  it.each([
    ['insufficient_funds', failureReasons.insufficient_funds],
    // Only a newer version knows it.
    ['from_tomorrow', failureReasons.unknown],
  ])('says why a payment failed, as the API does: %s', (failure_code, failure_reason) => {
    const failureCode = failure_code as FailureCode;
    const failed = examplePayment({ status: 'failed', failureCode });
    for (const text of [
      presentPayment(failed, 'https://pay.example'),
      createEvent(failed, at).body,
    ])
      expect(JSON.parse(text)).toMatchObject({ paid_at: null, failure_code, failure_reason });
  });

  it.each(['pending', 'processing'] as const)('rejects a payment that is %s', (status) => {
    expect(() => createEvent(examplePayment({ status }), at)).toThrow('has not ended');
  });

  it('writes the same fields as the schema of the event has, in the same order', () => {
    const linkId = 'LNK_01J8ZK3V7Q9XW2M4N6P8R0T1AB';
    const cancelled = examplePayment({ status: 'cancelled', cancelledBy: 'payer', linkId });
    expect(Object.keys(EventBody.shape)).toEqual(fieldNames(createEvent(cancelled, at).body));
  });
});
