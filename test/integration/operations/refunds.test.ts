import { describe, expect, it } from 'vitest';
import { activitiesOf, refundCase, startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { emptyTemporal, operationsOn } from '../../support/service/admin-operations.ts';
import { runLine, words } from '../../support/service/admin-line.ts';
import { silence } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRefundRecords());

/** A refund of a gateway without keys that gave no answer for a day. */
const byHand = async () => {
  const refund = await refundCase(records, {
    driver: 'zarinpal',
    refunds: [[], []],
    refund: [silence],
  });
  await refund.tryOnce();
  refund.later(25 * 3_600_000);
  await refund.tryOnce();
  return refund;
};
const any = { application: null, paymentId: null, status: null, stage: null };
const operations = operationsOn(records.sql, {
  temporal: async () => emptyTemporal,
});
const run = (line: string) => runLine(() => operations, words(line));

describe('refunds settle', () => {
  it.each([
    ['succeeded', { refunded: 500, pending: 0 }],
    ['failed', { refunded: 0, pending: 0 }],
  ])('ends a refund that is by hand as %s, with a record in the audit log', async (as, sums) => {
    const refund = await byHand();
    const listed = await run(`refunds list --by-hand --payment ${refund.payment.id}`);
    expect(listed.out).toContain(refund.id);
    const line = `refunds settle ${refund.id} --outcome ${as} --reason seen --yes`;
    expect(await run(line)).toMatchObject({ code: 0 });
    expect(await refund.tryOnce()).toBe('ended');
    expect(await refund.get()).toMatchObject({ status: as });
    expect([await refund.sums(), await refund.events()]).toEqual([sums, [`refund.${as}`]]);
    const log = await operations.auditLog({ subject: `refund:${refund.id}`, limit: 9 });
    expect(log).toMatchObject([
      {
        action: 'refund.settle',
        reason: 'seen',
        before: { stage: 'by_hand' },
        after: { settled_as: as },
      },
    ]);
    // Once.
    expect(await run(line)).toMatchObject({ code: 1 });
  });

  it('refuses a refund that the service can still find out about', async () => {
    const refund = await refundCase(records, { refunds: [] });
    const line = `refunds settle ${refund.id} --outcome failed --reason guess --yes`;
    const { code, notes } = await run(line);
    expect([code, notes]).toEqual([1, expect.stringContaining('no refund that waits')]);
    expect(await refund.get()).toMatchObject({ status: 'pending', stage: 'reserved' });
  });
});

describe('refunds create', () => {
  const as = (name: string) => {
    const started: unknown[] = [];
    const admin = operationsOn(records.sql, {
      actor: name,
      temporal: async () => ({
        ...emptyTemporal,
        restart: async ({ refundId }) => void started.push(refundId),
      }),
    });
    return { started, run: (line: string) => runLine(() => admin, words(line)), admin };
  };
  const idIn = (out: string) => /REFUND_\w+/.exec(out)?.[0] ?? '';
  const workOn = (refund: string, paymentId: string) =>
    activitiesOf(records, { refunds: async () => [] }).refundPayment({ id: refund, paymentId });

  it('reserves what is left, starts the workflow, and writes the audit log', async () => {
    const ada = as('ada');
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out, code } = await ada.run(`refunds create ${id} --amount 400 --reason seat --yes`);
    expect(code, out).toBe(0);
    expect(ada.started).toEqual([idIn(out)]);
    expect(await ada.admin.refunds.find({ ...any, paymentId: id }, 9)).toMatchObject([
      { status: 'pending', stage: 'reserved', amount: 400, requestedBy: 'admin' },
    ]);
    expect(await ada.admin.auditLog({ subject: `refund:${idIn(out)}`, limit: 9 })).toMatchObject([
      { action: 'refund.create', actor: 'ada', reason: 'seat', after: { amount: 400 } },
    ]);
    for (const line of [
      `refunds create ${id} --amount 851 --reason seat --yes`,
      `refunds create ${(await records.sent()).id} --reason seat --yes`,
      'refunds create PAY_1 --reason seat --yes',
      `refunds create ${id} --amount 1 --yes`,
    ])
      expect((await ada.run(line)).code, line).not.toBe(0);
    expect(ada.started).toHaveLength(1);
  });

  it('records what was given back elsewhere, without the gateway, and tells the application', async () => {
    const ada = as('ada');
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out } = await ada.run(`refunds create ${id} --recorded --reason cash --yes`);
    const { events } = await workOn(idIn(out), id);
    expect(await ada.admin.refunds.find({ ...any, paymentId: id }, 9)).toMatchObject([
      { status: 'succeeded', method: 'recorded', amount: 1250, told: 0 },
    ]);
    expect(events).toHaveLength(2);
    const rows = await records.sql`select kind from events where subject = ${idIn(out)}`;
    expect(rows.map(({ kind }) => String(kind)).toSorted()).toEqual([
      'refund.created',
      'refund.succeeded',
    ]);
  });

  it('waits for a second admin above the set amount, and tells no gateway before', async () => {
    const [ada, bob] = [as('ada'), as('bob')];
    expect((await ada.run('refunds confirm-above EUR --amount 500 --reason rule')).code).toBe(0);
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out } = await ada.run(`refunds create ${id} --amount 501 --reason seat --yes`);
    const refund = idIn(out);
    expect(out).toContain('Another admin must confirm it');
    expect(ada.started).toEqual([]);
    // Somebody starts its workflow nevertheless.
    await workOn(refund, id);
    expect((await ada.run(`refunds confirm ${refund} --yes`)).code).not.toBe(0);
    expect((await bob.run(`refunds confirm ${refund} --yes`)).code).toBe(0);
    expect(bob.started).toEqual([refund]);
    expect((await bob.run(`refunds confirm ${refund} --yes`)).code).not.toBe(0);
    expect((await ada.run('refunds confirm-above EUR --reason rule')).code).toBe(0);
  });
});

describe('refunds limit', () => {
  it('limits what an application refunds in a day', async () => {
    const set = await run('refunds limit shop EUR --amount 100000 --reason agreed');
    expect(set).toMatchObject({ code: 0 });
    const log = await operations.auditLog({ subject: 'application:shop', limit: 1 });
    expect(log).toMatchObject([{ after: { currency: 'EUR', per_day: 100_000 } }]);
    expect((await run('refunds limit shop XXX --amount 1 --reason agreed')).code).not.toBe(0);
    expect((await run('refunds limit nobody EUR --amount 1 --reason agreed')).code).not.toBe(0);
    expect(await run('refunds limit shop EUR --reason agreed')).toMatchObject({ code: 0 });
  });
});
