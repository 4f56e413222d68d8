import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, OpenResult } from '../../../gateways/gateway.ts';
import { withOutcome, noAnswer, startRecords } from '../../support/data/records.ts';
import {
  inTurn,
  publicBaseUrl,
  silence,
  withGateway,
} from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';
import { lendAbilities } from '../../support/gateways/lend-abilities.ts';

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
    expect(await records.payments.sendToGateway([id], new Date())).toMatchObject([{ redirect }]);
  });

  it('gives a driver that takes reports the same secret address at every try', async () => {
    lendAbilities('sandbox', { takesReports: true });
    const { id } = await records.created();
    const { openPayment, asked } = opening(inTurn<OpenResult>(silence, opened('A-8')));
    await expect(openPayment({ id, afterDeadline: false })).rejects.toThrow('timeout');
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
    const [row] = await records.sql<{ key: string }[]>`
      select report_key as key from payments where id = ${id}`;
    expect(row?.key).toMatch(/^[\w-]{32}$/);
    const reportUrl = `${publicBaseUrl}/api/v1/payments/${id}/reports/${row?.key}`;
    expect(asked.map(({ payment }) => payment.reportUrl)).toEqual([reportUrl, reportUrl]);
  });

  it('gives each payment an address of its own', async () => {
    lendAbilities('sandbox', { takesReports: true });
    const { openPayment, asked } = opening(async () => opened(`A-${randomUUID()}`));
    for (let count = 0; count < 2; count += 1) {
      const { id } = await records.created();
      await openPayment({ id, afterDeadline: false });
    }
    const keys = asked.map(({ payment }) => payment.reportUrl?.split('/').at(-1));
    expect(new Set(keys).size).toBe(2);
  });

  it('gives other drivers no address for reports, and their payments no key', async () => {
    const { id } = await records.created();
    const { openPayment, asked } = opening(async () => opened('A-9'));
    await openPayment({ id, afterDeadline: false });
    expect(asked).toMatchObject([{ payment: { id, reportUrl: undefined } }]);
    expect(await records.snapshot(id)).toMatchObject({ payment: { report_key: null } });
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

  it.each([
    ['that the gateway refuses, with an alert', 'merchant_configuration', undefined],
    [
      'whose amount the gateway does not take, and alerts nobody',
      'amount_not_accepted',
      'amount_not_accepted',
    ],
  ] as const)('ends a payment %s', async (_, failureCode, told) => {
    const { id } = await records.created();
    const refusal = { ...refused, ...(told && { failureCode: told }) };
    const { openPayment, alerts } = opening(async () => refusal);
    expect(await openPayment({ id, afterDeadline: false })).toEqual({
      stage: 'ended',
      status: 'failed',
    });
    expect(await records.snapshot(id)).toMatchObject({
      payment: {
        status: 'failed',
        failure_code: failureCode,
        gateway_code: '-9',
        gateway_message: 'no such merchant',
      },
      event: { kind: 'payment.failed' },
      delivery: { status: 'pending' },
    });
    expect(alerts()).toEqual(told ? [] : [failureCode]);
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
    await records.payments.sendToGateway([id], new Date());
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
    const { id } = await records.created();
    const { openPayment, calls } = withGateway(
      records,
      {},
      { gatewayBulkhead: createBulkhead({ perOwner: 0 }) },
    );
    await records.sql`update payments set expires_at = now() + interval '10 seconds' where id = ${id}`;
    await expect(openPayment({ id, afterDeadline: false })).rejects.toMatchObject({
      type: 'GatewayBusy',
      nextRetryDelay: expect.toSatisfy((ms: number) => ms <= 5_000),
    });
    expect(calls()).toEqual([]);
  });

  it('opens it before the deadline, whatever the clock of the worker says', async () => {
    const { id, expiresAt } = await records.created();
    const { openPayment } = withGateway(
      records,
      { open: async () => opened('A-clock') },
      { now: () => new Date(expiresAt.getTime() + 7_200_000) },
    );
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
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

  const ends = async (payment: Payment) => {
    const { ended, event } = withOutcome(payment, 'expired');
    await records.paymentOutcomes.finalize(ended, event, noAnswer);
  };
  /** Temporal has given up an earlier try, which still finishes. */
  const isOpened = async ({ id }: Payment) => {
    await records.paymentOutcomes.recordOpened(id, {
      reference: `A-${id}`,
      redirect,
      exchanges: [],
    });
    await records.payments.sendToGateway([id], new Date());
  };
  it.each([
    // The workflow delivers the event. Otherwise it would wait for a payer.
    ['that has ended meanwhile', ends, opened('A-3'), { stage: 'ended', status: 'expired' }],
    ['that an earlier try has opened', isOpened, opened('A-6'), { stage: 'open' }],
    [
      'that an earlier try has opened, though this one is refused',
      isOpened,
      refused,
      { stage: 'open' },
    ],
  ])('changes nothing of a payment %s', async (_, meanwhile, answer, stage) => {
    const payment = await records.created();
    let before: unknown;
    const { openPayment } = opening(async () => {
      await meanwhile(payment);
      before = await records.snapshot(payment.id);
      return answer;
    });
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual(stage);
    expect(await records.snapshot(payment.id)).toEqual(before);
  });
});
