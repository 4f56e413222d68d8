import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApprovals } from '../../../../postgres/admin/approvals.ts';
import type { Via } from '../../../../postgres/audit-log.ts';
import { everyRefund } from '../../../../postgres/refunds/filter.ts';
import type { NewRefund } from '../../../../postgres/refunds/refunds.ts';
import { createTokens } from '../../../../postgres/applications/tokens.ts';
import {
  accepted,
  activitiesOf,
  refundCase,
  startRefundRecords,
} from '../../../support/data/refund-cases.ts';
import { forFile } from '../../../support/for-file.ts';
import {
  anApplicationOn,
  emptyTemporal,
  operationsOn,
} from '../../../support/service/admin-operations.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { silence } from '../../../support/service/scripted-gateway.ts';

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
const page = { after: null, limit: 9 };
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

/** An admin, and the refunds whose workflows the admin has started. */
const as = (actor: string, via: Via = 'cli') => {
  const started: unknown[] = [];
  const admin = operationsOn(records.sql, {
    ...{ actor, via },
    temporal: async () => ({
      ...emptyTemporal,
      restart: async ({ refundId }) => void started.push(refundId),
    }),
  });
  return { started, run: (line: string) => runLine(() => admin, words(line)), admin };
};
/** As its workflow does. */
const workOn = (id: string, paymentId: string) =>
  activitiesOf(records, { refunds: async () => [] }).refundPayment({ id, paymentId });

describe('refunds create', () => {
  const idIn = (out: string) => /REFUND_\w+/.exec(out)?.[0] ?? '';
  it('reserves what is left, starts the workflow, and writes the audit log', async () => {
    const ada = as('ada');
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out, code } = await ada.run(
      `refunds create ${id} --minor-units 400 --reason seat --yes`,
    );
    expect(code, out).toBe(0);
    expect(ada.started).toEqual([idIn(out)]);
    expect(await ada.admin.refunds.list({ ...everyRefund, paymentId: id }, page)).toMatchObject([
      { status: 'pending', stage: 'reserved', amount: 400, requestedBy: 'admin' },
    ]);
    expect(await ada.admin.auditLog({ subject: `refund:${idIn(out)}`, limit: 9 })).toMatchObject([
      { action: 'refund.create', actor: 'ada', reason: 'seat', after: { amount: 400 } },
    ]);
    for (const line of [
      `refunds create ${id} --minor-units 851 --reason seat --yes`,
      `refunds create ${(await records.sent()).id} --reason seat --yes`,
      'refunds create PAY_1 --reason seat --yes',
      `refunds create ${id} --minor-units 1 --yes`,
    ])
      expect((await ada.run(line)).code, line).not.toBe(0);
    expect(ada.started).toHaveLength(1);
  });

  it('records what was given back elsewhere, without the gateway, and tells the application', async () => {
    const ada = as('ada');
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out } = await ada.run(`refunds create ${id} --recorded --reason cash --yes`);
    const { events } = await workOn(idIn(out), id);
    expect(await ada.admin.refunds.list({ ...everyRefund, paymentId: id }, page)).toMatchObject([
      { status: 'succeeded', method: 'recorded', amount: 1250, timesTold: 0 },
    ]);
    expect(events).toHaveLength(2);
    const rows = await records.sql`select kind from events where subject = ${idIn(out)}`;
    expect(rows.map(({ kind }) => String(kind)).toSorted()).toEqual([
      'refund.created',
      'refund.succeeded',
    ]);
  });

  it('is asked about with what is true of one that is recorded, and of one that another admin must confirm', async () => {
    const { admin } = as('ada');
    const ask = async (line: string) =>
      (await runLine(() => admin, words(line), { answer: 'n' })).questions.join(' ');
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const line = `refunds create ${id} --minor-units 501 --reason seat`;
    expect(await ask(line)).not.toContain('Another admin');
    await admin.refunds.setApprovalAbove('EUR', 500, 'rule');
    expect(await ask(line)).toContain('Another admin must confirm it');
    const wish = { amount: 501, recorded: true, reason: 'cash' };
    const { refund } = await admin.refunds.create(id, wish);
    expect(await ask(`refunds confirm ${refund.id}`)).toContain('is recorded as given back');
    await admin.refunds.setApprovalAbove('EUR', null, 'rule');
  });

  it('waits for a second admin above the set amount, and tells no gateway before', async () => {
    const [ada, bob] = [as('ada'), as('bob')];
    expect((await ada.run('refunds confirm-above EUR --minor-units 500 --reason rule')).code).toBe(
      0,
    );
    const { id } = await records.ended('paid', { gateway: 'stripe' });
    const { out } = await ada.run(`refunds create ${id} --minor-units 501 --reason seat --yes`);
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

type Issued = Record<'token' | 'id', string> & { to_confirm: boolean };

describe('the rule of the second admin', () => {
  const paidOne = async () => (await records.ended('paid', { gateway: 'stripe' })).id;
  const give = async (actor: string, paymentId: string, amount: number, via: Via = 'cli') => {
    const wanted = { amount, recorded: false, reason: 'a test' };
    return as(actor, via).admin.refunds.create(paymentId, wanted);
  };
  const waits = async (...of: Parameters<typeof give>) => (await give(...of)).toConfirm;
  beforeEach(() => createApprovals(records.sql, 'refund').set('EUR', 500));
  afterEach(() => createApprovals(records.sql, 'refund').set('EUR', null));

  it('counts what admins have asked for of the payment, whoever they are', async () => {
    const id = await paidOne();
    expect(await waits('part-one', id, 300)).toBe(false);
    expect(await waits('part-two', id, 200)).toBe(false);
    expect(await waits('part-three', id, 1)).toBe(true);
  });

  it('counts what the same person has asked for in 24 hours, and not what was called off', async () => {
    const { refund } = await give('person', await paidOne(), 400);
    expect(await waits('person', await paidOne(), 100)).toBe(false);
    for (const name of ['person', ' Person', 'PERSON'])
      expect(await waits(name, await paidOne(), 1), name).toBe(true);
    await as('other').admin.refunds.cancel(refund.id, 'a mistake');
    await workOn(refund.id, refund.paymentId);
    expect(await waits('person', await paidOne(), 390)).toBe(false);
    await records.sql`
      update refunds set created_at = created_at - interval '25 hours' where person_of(asked_by) = 'person'`;
    expect(await waits('person', await paidOne(), 500)).toBe(false);
  });

  it('is named with the sum that is above it, before the refund and after it, to both admins', async () => {
    const [whole, part, another] = [await paidOne(), await paidOne(), await paidOne()];
    await give('other', part, 499);
    await give('asker', await paidOne(), 400);
    const asker = as('asker').admin;
    const reader = as('reader').admin;
    const texts = async (line: string) =>
      (await runLine(() => asker, words(line), { answer: 'no' })).questions.join();
    for (const { id, amount, total, counted, to, of } of [
      { id: whole, amount: 600, total: 600, counted: 'refund', to: 'it gives 6.00 EUR back' },
      {
        ...{ id: part, amount: 50, total: 549, counted: 'payment' },
        to: 'with it admins have asked for 5.49 EUR of this payment',
      },
      {
        ...{ id: another, amount: 200, total: 600, counted: 'admin' },
        to: 'with it you have asked for 6.00 EUR within 24 hours',
        of: 'with it asker has asked for 6.00 EUR within 24 hours',
      },
    ]) {
      expect(await asker.refunds.overRule(id, amount)).toEqual({ counted, total, above: 500 });
      const why = (text: string) => `because ${text}, and the rule is 5.00 EUR`;
      const line = `refunds create ${id} --minor-units ${amount} --reason test`;
      expect(await texts(line)).toContain(why(to));
      const { out } = await runLine(() => asker, words(`${line} --yes`));
      expect(out).toContain(why(to));
      const [refund = ''] = /REFUND_\w+/.exec(out) ?? [];
      const show = await runLine(() => reader, words(`refunds show ${refund}`));
      expect(show.out).toContain(why(of ?? to));
      expect(await texts(`refunds confirm ${refund}`)).toContain(why(of ?? to));
      // The next one has only the sums of the first two.
      await reader.refunds.refuse(refund, 'a test');
      await workOn(refund, id);
    }
  });

  it('counts one that an admin has settled as failed', async () => {
    const id = await paidOne();
    const { refund } = await give('settler', id, 500);
    await records.sql`update refunds set stage = 'by_hand', times_told = 1, due_at = null where id = ${refund.id}`;
    await as('settler').admin.refunds.settle(refund.id, 'failed', 'it seems');
    await workOn(refund.id, refund.paymentId);
    expect(await waits('another', id, 1)).toBe(true);
  });

  it('lets two at once see each other', async () => {
    const payments = await Promise.all([1, 2, 3, 4].map(paidOne));
    const waiting = await Promise.all(payments.map((id) => waits('twice', id, 250)));
    expect(waiting.filter(Boolean)).toHaveLength(2);
  });

  it('knows the same person on the other surface, and nobody whom the console does not know', async () => {
    await operations.console.add(
      { name: 'grace', role: 'admin', email: 'grace@example.com' },
      null,
    );
    const { refund } = await give('Ada L', await paidOne(), 501, 'console');
    const confirm = (name: string, via: Via) =>
      as(name, via).admin.refunds.confirm(refund.id, null);
    await expect(confirm('ADA l', 'console')).rejects.toThrow('Another admin than Ada L');
    await expect(confirm('adal', 'cli')).rejects.toThrow('Another admin than Ada L');
    await expect(confirm('root', 'cli')).rejects.toThrow('must be that of an admin');
    await confirm('Grace', 'cli');
    await expect(confirm('Grace', 'cli')).rejects.toThrow('no refund that waits');
    const other = await give('root', await paidOne(), 501);
    await expect(
      as('henry', 'console').admin.refunds.confirm(other.refund.id, null),
    ).rejects.toThrow('must be that of an admin');
    await as('henry').admin.refunds.confirm(other.refund.id, null);
  });

  it('covers a token that may refund: nobody can use it before another admin confirms it', async () => {
    const application = await anApplicationOn(records.sql);
    const { authenticate } = createTokens(records.sql);
    const line = `tokens issue ${application} --mode live --name mine --scopes read,refund --json`;
    const issued = JSON.parse((await as('ada').run(line)).out) as Issued;
    expect(issued.to_confirm).toBe(true);
    expect(await authenticate(issued.token)).toBeUndefined();
    const confirm = `tokens confirm ${application} ${issued.id} --yes`;
    expect(await as('Ada').run(confirm)).toMatchObject({ code: 1 });
    expect((await as('ada').run(`tokens list ${application}`)).out).toMatch(/ada +yes/);
    expect(await as('bob').run(confirm)).toMatchObject({ code: 0 });
    expect(await authenticate(issued.token)).toMatchObject({ application, token: issued.id });
    expect(await as('bob').run(confirm)).toMatchObject({ code: 1 });
    const log = await operations.auditLog({ subject: `application:${application}`, limit: 1 });
    expect(log).toMatchObject([{ action: 'token.confirm', actor: 'bob' }]);

    const usual = await as('ada').run(`tokens issue ${application} --mode live --name a --json`);
    expect(JSON.parse(usual.out)).toMatchObject({ to_confirm: false });
    const revoked = JSON.parse((await as('ada').run(line)).out) as Issued;
    await as('ada').run(`tokens revoke ${application} ${revoked.id} --yes`);
    expect(await as('bob').run(`tokens confirm ${application} ${revoked.id} --yes`)).toMatchObject({
      code: 1,
    });
  });
});

describe('refunds cancel', () => {
  it('calls off what an application has asked for, whose gateway was not told', async () => {
    const refund = await refundCase(records, {
      refunds: [[]],
      fields: { token: 'abcdef0123456789' },
    });
    const listed = await run(`refunds list --payment ${refund.payment.id}`);
    expect(listed.out).toContain('token abcdef0123456789');
    const line = `refunds cancel ${refund.id} --reason leaked`;
    expect(await run(line)).toMatchObject({ code: 0 });
    expect(await refund.tryOnce()).toBe('ended');
    expect(await refund.get()).toMatchObject({ status: 'failed', failureCode: 'cancelled' });
    expect([await refund.sums(), refund.calls()]).toEqual([{ refunded: 0, pending: 0 }, []]);
    const log = await operations.auditLog({ subject: `refund:${refund.id}`, limit: 9 });
    expect(log).toMatchObject([{ action: 'refund.cancel', reason: 'leaked' }]);
    expect(await run(line)).toMatchObject({ code: 1, notes: expect.stringContaining('has ended') });
  });

  it.each([
    ['recorded', { requestedBy: 'admin', method: 'recorded' }],
    ['of an admin', { requestedBy: 'admin' }],
  ] as const)('calls off one that is %s', async (_, fields) => {
    const refund = await refundCase(records, { refunds: [[]], fields });
    expect(await run(`refunds cancel ${refund.id} --reason mistake`)).toMatchObject({ code: 0 });
    expect(await refund.tryOnce()).toBe('ended');
    expect(await refund.get()).toMatchObject({ status: 'failed', failureCode: 'cancelled' });
  });

  it('refuses one that the gateway was told of, that is by hand, or that does not exist', async () => {
    const told = await refundCase(records, { refunds: [[]], refund: [silence] });
    await told.tryOnce();
    for (const [id, why] of [
      [told.id, 'The gateway was told'],
      [(await byHand()).id, 'refunds settle'],
      ['REFUND_0', 'There is no refund'],
    ]) {
      const { code, notes } = await run(`refunds cancel ${id} --reason leaked`);
      expect([code, notes]).toEqual([1, expect.stringContaining(why ?? '')]);
    }
    for (const line of ['refunds cancel', `refunds cancel ${told.id} --application shop --yes`])
      expect((await run(`${line} --reason leaked`)).code).not.toBe(0);
  });

  it('calls off everything of an application, and nothing of another one', async () => {
    const slug = await anApplicationOn(records.sql);
    const ofIt = async () => {
      const refund = await refundCase(records, { refunds: [[]], refund: [silence] });
      await records.sql`update refunds set application = ${slug} where id = ${refund.id}`;
      return refund;
    };
    const [one, two, told] = [await ofIt(), await ofIt(), await ofIt()];
    const other = await refundCase(records, { refunds: [[]] });
    await told.tryOnce();
    const { out, code } = await run(`refunds cancel --application ${slug} --reason leaked --yes`);
    expect([code, out]).toEqual([0, expect.stringContaining('2 refunds (10.00 EUR)')]);
    for (const refund of [one, two]) {
      expect(await refund.tryOnce()).toBe('ended');
      expect(await refund.get()).toMatchObject({ failureCode: 'cancelled' });
    }
    expect(await told.get()).toMatchObject({ status: 'pending', cancelRequested: false });
    expect(await other.get()).toMatchObject({ cancelRequested: false });
    const log = await operations.auditLog({ subject: `application:${slug}`, limit: 1 });
    expect(log).toMatchObject([
      { action: 'application.cancel_refunds', after: { refunds: [one.id, two.id].toSorted() } },
    ]);
    expect((await run(`refunds cancel --application nobody --reason leaked --yes`)).code).toBe(1);
  });
});

describe('a disabled application', () => {
  it('has its refunds wait until an admin enables it, and says so', async () => {
    const slug = await anApplicationOn(records.sql);
    const make = async (fields: Partial<NewRefund> = {}) => {
      const given = { refunds: [[], [], []], refund: [accepted({ refundId: 'ours' })], fields };
      const refund = await refundCase(records, given);
      await records.sql`update refunds set application = ${slug} where id = ${refund.id}`;
      return refund;
    };
    const [waiting, released, admins] = [
      await make(),
      await make(),
      await make({ requestedBy: 'admin' }),
    ];
    const disabled = await run(`applications disable ${slug}`);
    expect(disabled.out).toContain('no gateway was told of: 2 refunds (10.00 EUR). No gateway');
    for (const refund of [waiting, released]) {
      expect(await refund.tryOnce()).toBe('RefundPending');
      expect(refund.calls()).toEqual([]);
      expect(await refund.get()).toMatchObject({ stage: 'reserved', timesTold: 0 });
    }
    // An admin has said so.
    expect(await admins.tryOnce()).toBe('ended');
    expect(await run(`refunds release ${released.id} --reason asked --yes`)).toMatchObject({
      code: 0,
    });
    expect(await released.tryOnce()).toBe('ended');
    expect(await run(`refunds release ${admins.id} --reason asked --yes`)).toMatchObject({
      code: 1,
    });

    const enabled = await run(`applications enable ${slug}`);
    expect(enabled.out).toContain('no gateway was told of: 1 refund (5.00 EUR). They go on');
    const [due] =
      await records.sql`select due_at <= now() as due from refunds where id = ${waiting.id}`;
    expect(due).toEqual({ due: true });
    expect(await waiting.tryOnce()).toBe('ended');
    expect(await waiting.get()).toMatchObject({ status: 'succeeded', timesTold: 1 });
  });

  it('has no gateway told again of what it was told before', async () => {
    const slug = await anApplicationOn(records.sql);
    const refund = await refundCase(records, { refunds: [[], []], refund: [silence] });
    await refund.tryOnce();
    await records.sql`update refunds set application = ${slug} where id = ${refund.id}`;
    await run(`applications disable ${slug}`);
    expect(await refund.tryOnce()).toBe('RefundPending');
    expect(refund.calls()).toEqual(['refunds', 'refund', 'refunds']);
    expect(await refund.get()).toMatchObject({ stage: 'sent', timesTold: 1 });
  });
});

describe('refunds limit', () => {
  it('limits what an application refunds in a day', async () => {
    const set = await run('refunds limit shop EUR --minor-units 100000 --reason agreed');
    expect(set).toMatchObject({ code: 0 });
    expect(set.out).toContain('In other currencies it refunds nothing');
    const log = await operations.auditLog({ subject: 'application:shop', limit: 1 });
    expect(log).toMatchObject([{ after: { currency: 'EUR', per_day: 100_000 } }]);
    expect((await run('refunds limit shop XXX --minor-units 1 --reason agreed')).code).not.toBe(0);
    expect((await run('refunds limit nobody EUR --minor-units 1 --reason agreed')).code).not.toBe(
      0,
    );
    expect(await run('refunds limit shop EUR --reason agreed')).toMatchObject({ code: 0 });
  });
});
