import { expect, it } from 'vitest';
import { accountDayWorkflowId } from '../../../temporal/messages.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { runLine } from '../../support/service/admin-line.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { useService } from '../../support/service/service.ts';
import { addStripe } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const gateway = 'stripe-with-a-book';
const stripe = await forFile(addStripe(service, gateway));
const { application, journey } = await service.anApplication();

const operations = operationsOf(service);
const admin = async (...line: string[]) => {
  const { code, out, notes } = await runLine(() => operations, line);
  expect(code, notes).toBe(0);
  return out;
};
const today = () => new Date().toISOString().slice(0, 10);

/** Compares the day, and waits for the end. */
const compare = async (of: string, day = today()) => {
  await admin('accounts', 'compare', of, day);
  await service.client.workflow.getHandle(accountDayWorkflowId({ gateway: of, day })).result();
};
const differences = async (...options: string[]) => {
  const out = await admin('accounts', 'differences', '--gateway', gateway, '--json', ...options);
  return JSON.parse(out) as { id: number; kind: string; payment_id: string | null }[];
};

it('finds a refund of the dashboard and somebody’s charge, and mends what it can', async () => {
  const { id, reference } = await stripe.paid(journey);
  const { json } = await refund(journey, id, { amount: 200 });
  await refundBecomes(journey, String(json['refund_id']), 'succeeded');
  stripe.refundAtDashboard(reference, 300);
  stripe.charge({ amount: 990, currency: 'eur', trackingCode: 'pi_of_somebody', paymentId: '' });
  await compare(gateway);

  const found = await differences();
  expect(found.map(({ kind, payment_id }) => [kind, payment_id])).toEqual(
    expect.arrayContaining([
      ['captured_unknown', null],
      ['refund_unknown', id],
    ]),
  );
  expect(found).toHaveLength(2);
  const numberOf = (kind: string) => String(found.find((each) => each.kind === kind)?.id);
  await admin('accounts', 'explain', numberOf('captured_unknown'), '--reason', 'of the old shop');
  await admin('accounts', 'mend', numberOf('refund_unknown'), '--reason', 'the notice was lost');
  await until('the refund', async () => (await journey.get(id)).json['amount_refunded'] === 500);
  await compare(gateway);
  expect(await differences()).toEqual([]);
  expect(await differences('--state', 'mended')).toMatchObject([{ kind: 'refund_unknown' }]);

  const csv = await admin(
    ...['export', 'movements', '--from', today(), '--to', today(), '--gateway', gateway],
  );
  const rows = csv.trimEnd().split('\r\n');
  expect(rows[0]).toMatch(/^movement_id,kind,day,/);
  const amounts = rows.slice(1).map((row) => Number(row.split(',')[12]));
  expect(amounts.toSorted((a, b) => a - b)).toEqual([-300, -200, 1250]);
});

it('finds every movement of the sandbox in the book of the sandbox', async () => {
  const id = await journey.finish('pay');
  const { json } = await refund(journey, id, { amount: 500 });
  await refundBecomes(journey, String(json['refund_id']), 'succeeded');
  await compare('sandbox');
  const own = await operations.accounts.listDifferences(
    { gateway: 'sandbox', day: today(), state: 'open', application, test: null },
    10,
  );
  expect(own).toEqual([]);
  const [asked] = await service.sql`
    select count(*)::int as count from gateway_entries where payment_id = ${id} and not asked`;
  expect(asked).toEqual({ count: 2 });
});
