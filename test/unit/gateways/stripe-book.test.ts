import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { parseBook } from '../../../gateways/stripe-book.ts';

const moved = { id: 'txn_1', created: 1_795_000_000, currency: 'eur', fee: 0, source: null };
const pageOf = (...data: object[]) => ({ status: 200, body: { data, has_more: false } });
const entryOf = (transaction: object) => parseBook(pageOf({ ...moved, ...transaction })).entries[0];

const payer = { currency: 'eur', payment_intent: 'pi_1', metadata: { payment_id: 'PAY_1' } };
const charge = { ...payer, id: 'ch_1', object: 'charge', amount: 1250, status: 'succeeded' };
const refund = { ...payer, id: 're_1', object: 'refund', amount: 600, status: 'failed' };
const dispute = { id: 'du_1', object: 'dispute', amount: 1250, currency: 'eur' };

/** The type, the category, the amount, what it belongs to, and what it becomes. */
const known: [string, string | null, number, object | null, string][] = [
  ['charge', 'charge', 1250, charge, 'payment'],
  ['payment', 'charge', 1250, { ...charge, id: 'py_1' }, 'payment'],
  ['refund', 'refund', -600, refund, 'refund'],
  ['payment_refund', 'refund', -600, { ...refund, id: 'pyr_1' }, 'refund'],
  ['refund_failure', 'refund_failure', 600, refund, 'refund_returned'],
  ['adjustment', 'refund_failure', 600, refund, 'refund_returned'],
  ['adjustment', 'refund_failure', 600, charge, 'refund_returned'],
  ['adjustment', 'refund_failure', 600, null, 'refund_returned'],
  ['payment_refund', 'refund', 600, { ...refund, id: 'pyr_1' }, 'refund_returned'],
  ['adjustment', 'dispute', -1250, dispute, 'chargeback'],
  ['adjustment', 'dispute_reversal', 1250, dispute, 'chargeback'],
  ['adjusted_for_overdraft_transaction', 'dispute', -1250, null, 'chargeback'],
  ['payment_failure_refund', 'charge_failure', -1250, charge, 'payment_failed'],
  ['payment_reversal', 'payment_reversal', -1250, charge, 'chargeback'],
  ['payment_reversal', 'other_adjustment', -1250, charge, 'chargeback'],
  ['stripe_fee', 'fee', -30, null, 'fee'],
  ['stripe_fx_fee', 'stripe_fx_fee', -30, null, 'fee'],
  ['tax_fee', 'tax', -30, null, 'fee'],
  ['adjustment', 'fee', -30, null, 'fee'],
  ['network_cost', 'network_cost', -30, null, 'fee'],
  ['payout', 'payout', -5000, null, 'payout'],
  ['payout_failure', 'payout_reversal', 5000, null, 'payout_returned'],
  ['payout_cancel', null, 5000, null, 'payout_returned'],
  ['topup', 'topup', 5000, null, 'own_money'],
  ['reserved_funds', 'risk_reserved_funds', -5000, null, 'own_money'],
  ['reserve_hold', 'reserve_hold', -5000, null, 'own_money'],
  ['reserve_transaction', 'connect_reserved_funds', -5000, null, 'own_money'],
  ['payout_minimum_balance_hold', 'payout_minimum_balance_hold', -5000, null, 'own_money'],
  // Without a category, as in books of before 2020.
  ['charge', null, 1250, charge, 'payment'],
  ['refund_failure', null, 600, refund, 'refund_returned'],
  ['payment_reversal', null, -1250, charge, 'chargeback'],
  ['adjustment', null, -1250, dispute, 'chargeback'],
  ['adjustment', null, 600, refund, 'refund_returned'],
];
const unknown: [string, string | null, number][] = [
  ['adjustment', 'other_adjustment', 77],
  ['adjustment', null, -77],
  ['application_fee', 'platform_earning', 77],
  ['transfer', 'transfer', -77],
  ['connect_collection_transfer', 'connect_collection_transfer', -77],
  ['payment_unreconciled', 'unreconciled_customer_funds', 77],
  ['issuing_transaction', 'issuing_transaction', -77],
  ['contribution', 'contribution', -77],
  ['refund', 'partial_capture_reversal', -77],
  ['a_new_type', 'a_new_category', 77],
  ['a_new_type', null, 77],
  // Contradictions.
  ['charge', 'charge', -77],
  ['refund_failure', 'refund_failure', -77],
  ['payment_failure_refund', 'charge_failure', 77],
];

describe('stripe, the book', () => {
  it.each(known)('books %s with the category %s and the amount %i', (...line) => {
    const [type, category, amount, source, kind] = line;
    const entry = entryOf({ type, reporting_category: category, amount, source });
    expect(entry).toMatchObject({ kind, amount, currency: 'EUR' });
  });

  it.each(unknown)('names %s with the category %s and the amount %i', (type, category, amount) => {
    const name = category && category !== type ? `${type} (${category})` : type;
    const entry = entryOf({ type, reporting_category: category, amount });
    expect(entry).toMatchObject({ kind: 'other', name, amount, id: 'txn_1' });
  });

  it.each([
    ['validation', 'charge'],
    ['a_new_type', 'a_new_category'],
  ])('leaves out what moves nothing: %s', (type, category) => {
    expect(entryOf({ type, reporting_category: category, amount: 0 })).toBeUndefined();
  });

  it.each(['pending', 'failed'])('leaves out a payment that is %s', (status) => {
    const source = { ...charge, status };
    expect(entryOf({ type: 'payment', reporting_category: 'charge', amount: 1250, source })).toBe(
      undefined,
    );
  });

  it.each([
    ['the refund', { source: refund }],
    ['its id', { source: 're_1' }],
    ['a description', { description: 'REFUND FAILURE (re_1)' }],
    ['a charge and a description', { source: charge, description: 'Refund failure for re_1.' }],
  ])('finds the refund whose money came back by %s', (_name, facts) => {
    const labels = { type: 'adjustment', reporting_category: 'refund_failure', amount: 600 };
    expect(entryOf({ ...labels, ...facts })).toMatchObject({
      id: 'txn_1',
      source: 're_1',
      amount: 600,
    });
  });

  it('takes the amount in the currency of the payer', () => {
    const labels = { type: 'adjustment', reporting_category: 'refund_failure', amount: 655 };
    expect(entryOf({ ...labels, currency: 'usd', fee: 3, source: refund })).toMatchObject({
      ...{ amount: 600, currency: 'EUR', fee: null },
    });
    expect(entryOf({ ...labels, currency: 'usd', fee: 3, source: charge })).toMatchObject({
      ...{ amount: 655, currency: 'USD', fee: 3 },
    });
  });

  it('names the payment that a failure takes back', () => {
    const labels = { type: 'payment_failure_refund', reporting_category: 'charge_failure' };
    expect(entryOf({ ...labels, amount: -1250, source: charge })).toMatchObject({
      ...{ source: 'ch_1', payment: { trackingCode: 'pi_1', id: 'PAY_1' } },
    });
  });

  it('throws for an empty page that another one follows', () => {
    const response = { status: 200, body: { data: [], has_more: true } };
    expect(() => parseBook(response)).toThrow(GatewayUnavailable);
  });
});
