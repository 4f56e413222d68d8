import { describe, expect, it } from 'vitest';
import { amountHeld, isDisputeOpen } from '../../../contract/dispute.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { stripe } from '../../support/gateways/stripe.ts';

const { provider, adapter, opened, paid } = aProvider(stripe);

describe('stripe, disputes', () => {
  it.each([
    ['warning_needs_response', 'inquiry', 'needs_response'],
    ['warning_under_review', 'inquiry', 'under_review'],
    ['warning_closed', 'inquiry', 'closed'],
    ['needs_response', 'chargeback', 'needs_response'],
    ['under_review', 'chargeback', 'under_review'],
    ['won', 'chargeback', 'won'],
    ['lost', 'chargeback', 'lost'],
    ['prevented', 'chargeback', 'closed'],
  ])('reads %s as %s, %s', async (word, stage, status) => {
    const payment = await paid();
    const { id } = provider().dispute(payment.reference, word);
    expect(await adapter().disputes!(payment)).toEqual([
      {
        ...{ gatewayReference: id, stage, status, amount: 1250, currency: 'EUR' },
        ...{ reason: 'fraudulent', networkReason: '10.4' },
        respondBy: status === 'needs_response' ? (expect.any(Date) as Date) : null,
        openedAt: expect.any(Date) as Date,
      },
    ]);
  });

  it.each([
    ['due_by is 0', { due_by: 0, past_due: false, has_evidence: false }],
    ['it is too late', { due_by: 1_700_000_000, past_due: true, has_evidence: false }],
  ])('names no time to respond by when %s', async (_, evidence) => {
    const payment = await paid();
    provider().dispute(payment.reference, 'needs_response', { evidence_details: evidence });
    expect((await adapter().disputes!(payment))[0]?.respondBy).toBeNull();
  });

  it('takes a status that is not documented for a chargeback that holds its amount, beside the others', async () => {
    const payment = await paid();
    provider().dispute(payment.reference, 'needs_response', { amount: 700 });
    provider().dispute(payment.reference, 'pre_arbitration', { amount: 300 });
    const known = await adapter().disputes!(payment);
    expect(known.map((dispute) => [amountHeld(dispute), dispute.unknownStatus])).toEqual([
      [300, 'pre_arbitration'],
      [700, undefined],
    ]);
    expect(known.every(isDisputeOpen)).toBe(true);
  });

  it('is no answer when a dispute has no amount', async () => {
    const payment = await paid();
    provider().dispute(payment.reference, 'lost', { amount: 0 });
    await expect(adapter().disputes!(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('finds those of captured money whose number is not known here, and none of money that never came', async () => {
    const payment = { ...(await opened()), trackingCode: null };
    expect(await adapter().disputes!(payment)).toEqual([]);
    provider().pay(payment.reference);
    provider().dispute(payment.reference, 'needs_response');
    expect(await adapter().disputes!(payment)).toHaveLength(1);
  });
});
