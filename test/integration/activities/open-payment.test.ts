import { describe, expect, it } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { GatewayAdapter, OpenResult } from '../../../gateways/gateway.ts';
import { withOutcome, noAnswer, startRecords } from '../../support/data/records.ts';
import {
  inTurn,
  publicBaseUrl,
  silence,
  withGateway,
} from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const redirect = {
  method: 'POST',
  url: 'https://gateway.example',
  fields: { token: 'x' },
} as const;
const opened = (reference: string): OpenResult => ({ result: 'opened', reference, redirect });
const refused: OpenResult = { result: 'refused', code: '-9', message: 'no such merchant' };
const opening = (open?: GatewayAdapter['open']) => withGateway(records, open ? { open } : {});

describe('openPayment', () => {
  it('sends the payment to the gateway, and stores its reference and redirect', async () => {
    const payment = await records.created({ description: 'Tea' });
    const { openPayment, asked } = opening(async () => opened('A-1'));
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual({ stage: 'open' });
    const { id, amount, currency, description, expiresAt } = payment;
    const returnUrl = `${publicBaseUrl}/api/v1/payments/${id}/return`;
    expect(asked.map((each) => each.payment)).toEqual([
      { id, amount, currency, description, displayName: null, expiresAt, returnUrl },
    ]);
    expect(await records.paymentOutcomes.get(id)).toMatchObject({
      status: 'pending',
      reference: 'A-1',
    });
    expect(await records.payments.sendToGateway(id, new Date())).toMatchObject({ redirect });
  });

  it.each([true, false])(
    'does not open a payment twice (after the deadline: %s)',
    async (afterDeadline) => {
      const { id } = await records.opened();
      const { openPayment, calls } = opening();
      expect(await openPayment({ id, afterDeadline })).toEqual({ stage: 'open' });
      expect(calls()).toEqual([]);
    },
  );

  it('opens nothing after the deadline', async () => {
    const { id } = await records.created();
    const { openPayment, calls } = opening();
    expect(await openPayment({ id, afterDeadline: true })).toEqual({ stage: 'unopened' });
    expect(calls()).toEqual([]);
  });

  it('ends a payment that the gateway refuses to open as merchant_configuration, with an alert', async () => {
    const { id } = await records.created();
    const { openPayment, alerts } = opening(async () => refused);
    expect(await openPayment({ id, afterDeadline: false })).toEqual({
      stage: 'ended',
      status: 'failed',
    });
    expect(await records.snapshot(id)).toMatchObject({
      payment: {
        status: 'failed',
        failure_code: 'merchant_configuration',
        gateway_code: '-9',
        gateway_message: 'no such merchant',
      },
      event: { kind: 'payment.failed' },
      delivery: { status: 'pending' },
    });
    expect(alerts()).toEqual(['merchant_configuration']);
  });

  it('ends a payment whose amount the gateway does not take with that reason, and alerts nobody', async () => {
    const { id } = await records.created();
    const tooMuch = {
      code: '-9',
      message: 'too much',
      failureCode: 'amount_not_accepted',
    } as const;
    const { openPayment, alerts } = opening(async () => ({ result: 'refused', ...tooMuch }));
    await openPayment({ id, afterDeadline: false });
    expect(await records.snapshot(id)).toMatchObject({
      payment: { status: 'failed', failure_code: 'amount_not_accepted', gateway_code: '-9' },
    });
    expect(alerts()).toEqual([]);
  });

  it('fails with a retryable failure while the gateway does not answer, without an outcome', async () => {
    const { id } = await records.created();
    const before = await records.snapshot(id);
    const { openPayment } = opening(inTurn<OpenResult>(silence, opened('A-2')));
    await expect(openPayment({ id, afterDeadline: false })).rejects.toMatchObject({
      type: 'GatewayUnavailable',
      nonRetryable: false,
    });
    expect(await records.snapshot(id)).toEqual(before);
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
  });

  it('does not look for a late payment if the gateway was silent only during the opening', async () => {
    const { id } = await records.created();
    const { openPayment, verifyPayment, late } = withGateway(records, {
      open: inTurn<OpenResult>(silence, opened('A-7')),
      verify: async () => ({ state: 'cancelled' }),
    });
    await expect(openPayment({ id, afterDeadline: false })).rejects.toThrow('timeout');
    await openPayment({ id, afterDeadline: false });
    await records.payments.sendToGateway(id, new Date());
    const ended = { kind: 'ended', status: 'cancelled' };
    expect(await verifyPayment({ id, returned: true })).toEqual(ended);
    expect(late).toEqual([]);
  });

  it('does not report a fault of ours as an unavailable gateway', async () => {
    const { id } = await records.created();
    const { openPayment } = opening(() => Promise.reject(new TypeError('x is undefined')));
    await expect(openPayment({ id, afterDeadline: false })).rejects.toThrow(TypeError);
  });

  it('reports after the deadline whether the gateway could not be reached', async () => {
    const { id } = await records.created();
    const { openPayment, calls } = opening(silence);
    const expire = () => records.sql`update payments set expires_at = now() where id = ${id}`;
    await expect(openPayment({ id, afterDeadline: false })).rejects.toMatchObject({
      nonRetryable: false,
    });
    await expire();
    const final = { type: 'GatewayUnavailable', nonRetryable: true };
    await expect(opening().openPayment({ id, afterDeadline: false })).rejects.toMatchObject(final);
    const { id: never } = await records.created({ expiresAt: new Date() });
    expect(await opening().openPayment({ id: never, afterDeadline: false })).toEqual({
      stage: 'unopened',
    });
    expect(calls()).toHaveLength(1);
  });

  it('retries within half of the time left if its gateway has no free slot', async () => {
    const { id, expiresAt } = await records.created();
    const { openPayment, calls } = withGateway(
      records,
      {},
      {
        gatewayBulkhead: createBulkhead({ perOwner: 0 }),
        now: () => new Date(expiresAt.getTime() - 4_000),
      },
    );
    await expect(openPayment({ id, afterDeadline: false })).rejects.toMatchObject({
      type: 'GatewayBusy',
      nextRetryDelay: 2_000,
    });
    expect(calls()).toEqual([]);
  });

  it('returns how far an ended payment has come', async () => {
    const { openPayment, calls } = opening();
    for (const status of terminalStatuses) {
      const { id } = await records.ended(status);
      for (const afterDeadline of [true, false])
        expect(await openPayment({ id, afterDeadline })).toEqual({ stage: 'ended', status });
      await records.sql`
        update deliveries set status = 'exhausted', next_attempt_at = null where payment_id = ${id}`;
      expect(await openPayment({ id, afterDeadline: true })).toEqual({ stage: 'ended', status });
      await records.sql`update deliveries set status = 'delivered' where payment_id = ${id}`;
      expect(await openPayment({ id, afterDeadline: true })).toEqual({ stage: 'ended', status });
    }
    expect(calls()).toEqual([]);
  });

  it('alerts of a duplicate in the first round of a payment, and in no later one', async () => {
    await records.ended('paid', { orderId: 'paid-twice' });
    const { id } = await records.ended('paid', { orderId: 'paid-twice' });
    const { openPayment, alerts } = opening();
    await openPayment({ id, afterDeadline: true });
    const expected = ['duplicate_payment', 'duplicate_tracking_code'];
    expect(alerts()).toEqual(expected);
    await records.sql`update deliveries set round = 2 where payment_id = ${id}`;
    await openPayment({ id, afterDeadline: true });
    expect(alerts()).toEqual(expected);
  });

  it('changes nothing if the payment ended while the gateway was opening it', async () => {
    const payment = await records.created();
    const { openPayment } = opening(async () => {
      const { ended, event } = withOutcome(payment, 'expired');
      await records.paymentOutcomes.finalize(ended, event, noAnswer);
      return opened('A-3');
    });
    // The workflow delivers the event. Otherwise it would wait for a payer.
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual({
      stage: 'ended',
      status: 'expired',
    });
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
      status: 'expired',
      reference: null,
    });
  });

  it('keeps the reference of an earlier try that finishes late', async () => {
    const payment = await records.created();
    const { openPayment } = opening(async () => {
      const earlier = { reference: 'A-5', redirect, exchanges: [] };
      await records.paymentOutcomes.recordOpened(payment.id, earlier);
      return opened('A-6');
    });
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({ reference: 'A-5' });
  });

  it('keeps a payment open that an earlier try opened, though the second opening was refused', async () => {
    const payment = await records.created();
    const { openPayment } = opening(async () => {
      // Temporal has given up an earlier try, which still finishes.
      const earlier = { reference: 'A-4', redirect, exchanges: [] };
      await records.paymentOutcomes.recordOpened(payment.id, earlier);
      await records.payments.sendToGateway(payment.id, new Date());
      return refused;
    });
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({ status: 'pending' });
    expect(await records.listEvents(payment.id)).toEqual([]);
  });
});
