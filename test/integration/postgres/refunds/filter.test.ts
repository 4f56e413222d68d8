import { expect, it } from 'vitest';
import { createAdminRefunds } from '../../../../postgres/admin/refunds.ts';
import { everyRefund, type RefundFilter } from '../../../../postgres/refunds/filter.ts';
import { createRefunds } from '../../../../postgres/refunds/refunds.ts';
import { aRefund } from '../../../support/data/refund-cases.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const { sql, ...records } = await forFile(startRecords());

const made = async (payment: Awaited<ReturnType<typeof records.ended>>, age: string) => {
  const refund = aRefund(payment);
  await createRefunds(sql).insert(refund);
  await sql`update refunds set created_at = now() - ${age}::interval where id = ${refund.id}`;
  return refund;
};
const other = { application: 'quiet', test: false, orderId: 'order-other' };
const older = await made(await records.ended('paid', other), '2 days');
const newer = await made(await records.ended('paid', other), '-2 days');
const wanted = await made(await records.ended('paid', { orderId: 'order-wanted' }), '0 days');
await sql`
  update refunds set status = 'failed', stage = null, failure_code = 'cancelled', due_at = null
  where id in (${older.id}, ${newer.id})`;
await sql`
  update refunds set stage = 'by_hand', to_confirm = true, due_at = null where id = ${wanted.id}`;

/** Each matches the wanted refund. */
const values: { [Name in keyof RefundFilter]: NonNullable<RefundFilter[Name]> } = {
  application: wanted.application,
  test: wanted.test,
  paymentId: wanted.paymentId,
  orderId: 'order-wanted',
  status: 'pending',
  stage: 'by_hand',
  toConfirm: true,
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() + 3_600_000),
};

it.each(Object.entries(values))('the filter %s of refunds is not ignored', async (name, value) => {
  const page = { after: null, limit: 9 };
  const found = await createAdminRefunds(sql).list({ ...everyRefund, [name]: value }, page);
  const ids = found.map(({ id }) => id);
  expect(ids).toContain(wanted.id);
  const outside = name === 'from' ? [older.id] : name === 'to' ? [newer.id] : [older.id, newer.id];
  for (const id of outside) expect(ids).not.toContain(id);
});
