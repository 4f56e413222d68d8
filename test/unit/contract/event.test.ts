import { describe, expect, it } from 'vitest';
import { createEvent } from '../../../contract/event.ts';
import { EventBody } from '../../../contract/event-schema.ts';
import { type FailureCode, failureReasons } from '../../../contract/failure-codes.ts';
import { eventId } from '../../../contract/ids.ts';
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

  it('writes why a payment failed', () => {
    const failed = examplePayment({ status: 'failed', failureCode: 'insufficient_funds' });
    expect(JSON.parse(createEvent(failed, at).body)).toMatchObject({
      event: 'payment.failed',
      paid_at: null,
      failure_code: 'insufficient_funds',
      failure_reason: failureReasons.insufficient_funds,
    });
  });

  it('has a reason for a code that only a newer version knows', () => {
    const failureCode = 'from_tomorrow' as FailureCode;
    const failed = examplePayment({ status: 'failed', failureCode });
    for (const text of [
      presentPayment(failed, 'https://pay.example'),
      createEvent(failed, at).body,
    ])
      expect(JSON.parse(text)).toMatchObject({
        failure_code: 'from_tomorrow',
        failure_reason: failureReasons.unknown,
      });
  });

  it('derives its id from the payment, whenever it is created', () => {
    expect(createEvent(paidPayment, at).id).toBe(eventId(paidPayment.id));
    expect(createEvent(paidPayment, new Date(0)).id).toBe(eventId(paidPayment.id));
  });

  it.each(['pending', 'processing'] as const)('rejects a payment that is %s', (status) => {
    expect(() => createEvent(examplePayment({ status }), at)).toThrow('has not ended');
  });

  it('writes metadata exactly as it was sent', () => {
    const metadata = '{ "b": 1.50, "10": 1e3,\t"2": [ -0 ], "\\u00e9": "\\/" }';
    const { body } = createEvent({ ...paidPayment, metadata }, at);
    expect(body.endsWith(`"metadata":${metadata}}`)).toBe(true);
  });

  it('writes the same fields as the schema of the event has, in the same order', () => {
    const cancelled = examplePayment({ status: 'cancelled', cancelledBy: 'payer' });
    expect(Object.keys(EventBody.shape)).toEqual(fieldNames(createEvent(cancelled, at).body));
  });
});
