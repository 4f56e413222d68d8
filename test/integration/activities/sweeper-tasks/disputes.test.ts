import { expect, it } from 'vitest';
import { createDisputeTask } from '../../../../activities/sweeper-tasks/disputes.ts';
import { createDisputes } from '../../../../postgres/payments/disputes.ts';
import { createGatewayExchanges } from '../../../../postgres/gateways/exchanges.ts';
import { createRetention } from '../../../../postgres/admin/retention.ts';
import { aDispute } from '../../../support/data/disputes.ts';
import { noAnswer, startRecords, withOutcome } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import {
  aGateway,
  publicBaseUrl,
  readableLogger,
} from '../../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());
const { sql, paymentOutcomes } = records;
const disputes = createDisputes(sql);
/** The sweeper's looks at a gateway that tells these disputes. */
const taskOn = (script: Parameters<typeof aGateway>[0]) => {
  const { gatewayOf, asked } = aGateway(script);
  const { logger, alerts } = readableLogger();
  const task = createDisputeTask({
    ...{ disputes, paymentOutcomes, gatewayExchanges: createGatewayExchanges(sql), gatewayOf },
    ...{ publicBaseUrl, workflows: { restart: async () => {} }, now: () => new Date(), logger },
  });
  return { ...task, asked, alerts };
};

it('a look at a payment that was never opened ends with the payment, and keeps it from no purge', async () => {
  const { lookAtDisputes, asked } = taskOn({ disputes: async () => [] });
  const look = async () => {
    await sql`update dispute_looks set due_at = now() where due_at is not null`;
    return lookAtDisputes();
  };
  const purge = () => createRetention(sql).deletePayments(new Date(Date.now() + 60_000), 10);
  const payment = await records.created();
  await disputes.requestLook(payment.id);
  // Its gateway may have opened it, and the answer may come yet.
  expect([await look(), await look()]).toEqual([1, 1]);

  const { ended, event } = withOutcome(payment, 'failed');
  await paymentOutcomes.finalize(ended, event, noAnswer);
  await sql`update deliveries set status = 'delivered', next_attempt_at = null`;
  expect(await purge()).toBe(0);
  expect([await look(), await look()]).toEqual([1, 0]);
  expect(asked).toEqual([]);
  expect(await purge()).toBe(1);
});

it.each([
  ['paid again since', true, ['duplicate_payment']],
  ['free still', false, []],
] as const)(
  'a chargeback that is won after it was lost alerts admins of an order that is paid twice: %s',
  async (_, isPaidAgain, alerts) => {
    await sql`
      insert into gateways (slug, driver, kind) values ('live', 'sandbox', 'live') on conflict do nothing`;
    const anOrder = { orderId: `disputed-${alerts.length}`, gateway: 'live' };
    const payment = await records.ended('paid', anOrder);
    let told = aDispute({ amount: 1250, status: 'lost' });
    const log = taskOn({ disputes: async () => [told] });
    const look = async () => {
      await disputes.requestLook(payment.id);
      await log.lookAtDisputes();
    };
    await look();
    if (isPaidAgain) await records.ended('paid', anOrder);
    await look();
    expect(log.alerts()).toEqual([]);
    told = { ...told, status: 'won' };
    for (let nth = 1; nth <= 2; nth += 1) await look();
    expect(log.alerts()).toEqual(alerts);
    const marked = await sql`
      select id from payments where order_id = ${anOrder.orderId} and paid_twice_at is not null`;
    expect(marked).toHaveLength(alerts.length);
  },
);

it('a dispute of an unknown status is recorded beside the others, and alerts', async () => {
  const known = aDispute({ amount: 700 });
  const unknown = { ...aDispute({ amount: 300 }), unknownStatus: 'pre_arbitration' };
  const { lookAtDisputes, alerts } = taskOn({ disputes: async () => [unknown, known] });
  await sql`update gateways set kind = 'live'`;
  const { id } = await records.ended('paid');
  await disputes.requestLook(id);
  await lookAtDisputes();
  expect(await paymentOutcomes.get(id)).toMatchObject({ amountDisputed: 1000 });
  expect(alerts()).toEqual(['dispute_unknown']);
});
