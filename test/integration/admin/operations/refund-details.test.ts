import { expect, it } from 'vitest';
import { createGatewayExchanges } from '../../../../postgres/gateways/exchanges.ts';
import { forFile } from '../../../support/for-file.ts';
import {
  accepted,
  known,
  refundCase,
  startRefundRecords,
} from '../../../support/data/refund-cases.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { silence } from '../../../support/service/scripted-gateway.ts';

const records = await forFile(startRefundRecords());
const details = (id: string) => operationsOn(records.sql).refunds.details(id, { withAudit: true });

const callsIn = async (id: string) =>
  (await details(id)).timeline
    .filter(({ what }) => what.startsWith('the gateway'))
    .map(({ what, details: said }) => `${what}: ${said?.split(/,| ·/)[0]}`);

it('has each time that the gateway was told, and what it said', async () => {
  const { id, tryOnce } = await refundCase(records, {
    refunds: [[], [], [known({ refundId: 'ours' })]],
    refund: [silence, accepted({ refundId: 'ours', state: 'pending' })],
  });
  for (const end of ['RefundPending', 'RefundPending', 'ended']) expect(await tryOnce()).toBe(end);
  expect(await callsIn(id)).toEqual([
    'the gateway was asked for its refunds: answered',
    'the gateway was told to give money back: no usable answer',
    'the gateway was asked for its refunds: answered',
    'the gateway was told to give money back: accepted',
    'the gateway was asked for its refunds: answered',
  ]);
  const { timeline, events, payment } = await details(id);
  expect(timeline.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['asked for by the application', 'succeeded']),
  );
  expect(events.map(({ kind, refundId }) => [kind, refundId])).toEqual([['refund.succeeded', id]]);
  expect(payment.amount).toBe(1250);
});

it('keeps what the gateway was told, however often it is asked, and another refund of the payment has its own', async () => {
  const { id, payment } = await refundCase(records, { refunds: [] });
  const exchanges = createGatewayExchanges(records.sql);
  const call = { at: new Date(), code: null, message: null, durationMs: 1 } as const;
  await exchanges.insert(payment.id, [{ ...call, operation: 'refund', result: 'no_answer' }], id);
  const asked = { ...call, operation: 'list_refunds', result: 'listed' } as const;
  for (let n = 0; n < 60; n += 1) await exchanges.insert(payment.id, [asked], id);
  await exchanges.insert(payment.id, [asked], 'REFUND_OTHER');
  const calls = await callsIn(id);
  expect([calls.length, calls[0]]).toEqual([
    51,
    'the gateway was told to give money back: no usable answer',
  ]);
});

it('there is no page of an id that does not exist', async () => {
  await expect(details('REFUND_0000000000000000000000NONE')).rejects.toThrow('There is no refund');
});
