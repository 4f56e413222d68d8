import { describe, expect, it } from 'vitest';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const request = { by: 'application' } as const;

describe('cancelPayment', () => {
  it('ends a payment whose payer was not sent, without a question to the gateway', async () => {
    const { id } = await records.opened();
    for (const reason of ['Another reason', 'Out of stock'])
      await records.payments.recordCancelReason(id, reason);
    const { cancelPayment, calls } = withGateway(records, {});
    expect(await cancelPayment({ id, ...request })).toEqual({ kind: 'ended', status: 'cancelled' });
    expect(calls()).toEqual([]);
    const [event] = await records.listEvents(id);
    expect(JSON.parse(event?.body.toString() ?? '')).toMatchObject({
      event: 'payment.cancelled',
      cancelled_by: 'application',
    });
    expect(await records.paymentOutcomes.get(id)).toMatchObject({
      cancellationReason: 'Out of stock',
      failureCode: null,
    });
  });

  it('takes no reason of an application for the cancel of an admin, or for one without a reason', async () => {
    const { id } = await records.opened();
    await records.payments.recordCancelReason(id, 'Out of stock');
    await withGateway(records, {}).cancelPayment({ id, by: 'admin' });
    const { id: other } = await records.opened();
    for (const reason of ['Out of stock', null])
      await records.payments.recordCancelReason(other, reason);
    await withGateway(records, {}).cancelPayment({ id: other, ...request });
    for (const each of [id, other])
      expect(await records.paymentOutcomes.get(each)).toMatchObject({
        status: 'cancelled',
        cancellationReason: null,
      });
    await records.payments.recordCancelReason(id, 'Too late');
    const rows = await records.sql`select from payments where cancel_request_reason = 'Too late'`;
    expect(rows).toHaveLength(0);
  });

  it('asks the gateway in a retry although no checkout is recorded', async () => {
    const { id } = await records.opened();
    const { cancelPayment } = withGateway(
      records,
      { verify: async () => confirmed() },
      { isRetry: () => true },
    );
    expect(await cancelPayment({ id, ...request })).toEqual({ kind: 'ended', status: 'paid' });
  });

  it('looks for late money when a try that broke off may have captured some', async () => {
    const { id } = await records.ended('cancelled');
    const { cancelPayment, late } = withGateway(records, {}, { isRetry: () => true });
    expect(await cancelPayment({ id, ...request })).toMatchObject({ status: 'cancelled' });
    expect(late).toEqual([id]);
  });
});
