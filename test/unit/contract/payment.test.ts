import { describe, expect, it } from 'vitest';
import { payerFields } from '../../../contract/payer.ts';
import { PaymentResponse } from '../../../contract/payment-responses.ts';
import { presentPayment } from '../../../contract/payment.ts';
import { isTerminal, statuses } from '../../../contract/status.ts';
import { examplePayment, paidPayment } from '../../support/data/payments.ts';

const base = 'https://pay.example';

describe('presentPayment', () => {
  it('writes the fields of a pending payment in the order of the API', () => {
    const fields = {
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
      next_step: null,
      cancelled_by: null,
      cancellation_reason: null,
      amount_refunded: 0,
      amount_refund_pending: 0,
      amount_disputed: 0,
      refundable: 0,
      refundable_until: null,
      link_id: null,
      test: true,
      metadata: {},
      expires_at: '2026-11-20T11:11:37.120+00:00',
      created_at: '2026-11-20T10:41:37.123+00:00',
      updated_at: '2026-11-20T10:41:37.000+00:00',
    };
    const written = JSON.parse(presentPayment(examplePayment(), base)) as object;
    expect(Object.entries(written)).toEqual(Object.entries(fields));
    expect(Object.keys(PaymentResponse.shape)).toEqual([...Object.keys(fields), 'payer_ignored']);
  });

  it('has nothing that only the gateway may know of the payer', () => {
    const names = Object.keys(PaymentResponse.shape);
    for (const field of payerFields) expect(names).not.toContain(`payer_${field}`);
  });

  it('writes the result of a paid payment', () => {
    expect(JSON.parse(presentPayment(paidPayment, base))).toMatchObject({
      status: 'paid',
      tracking_code: 'T-77',
      card_pan_masked: '411111******1111',
      paid_at: '2026-11-20T10:45:00.001+00:00',
    });
  });

  it.each(statuses)('has a checkout URL until the payment ends: %s', (status) => {
    const { checkout_url } = JSON.parse(presentPayment(examplePayment({ status }), base)) as {
      checkout_url: string | null;
    };
    expect(checkout_url === null).toBe(isTerminal(status));
  });
});
