import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createApprovals } from '../../../postgres/admin/approvals.ts';
import { createAdminRefunds } from '../../../postgres/admin/refunds.ts';
import { tokenIdOf } from '../../../postgres/applications/tokens.ts';
import type { DatabaseRole } from '../../support/checks/forbidden-statements.ts';
import { createLogins } from '../../support/checks/rights.ts';
import { aDatabase } from '../../support/data/database.ts';
import { insertRefund } from '../../support/data/insert-refund.ts';
import { forFile } from '../../support/for-file.ts';
import { startService } from '../../support/service/service.ts';

const database = await aDatabase();
const { urls, as } = await createLogins(database);
const service = await forFile(
  startService({ database, apiEnv: { DATABASE_URL: urls.api }, withoutWorker: true }),
);
afterAll(() => Promise.all(Object.values(as).map((sql) => sql.end({ timeout: 1 }))));

describe('a refund that goes round limit or second admin', () => {
  const refunded = { amount: 1250, currency: 'EUR', order_id: 'order-roles' };
  /** A paid payment of an application with a limit and a token that may refund. */
  const aPaidOne = async () => {
    const { journey: own, application, token } = await service.anApplication();
    await createAdminRefunds(as.admin).setLimit(application, 'EUR', 2_000);
    const id = await own.create(refunded);
    await service.sql`
      update payments set status = 'paid', paid_at = now(), checkout_at = now() where id = ${id}`;
    return { id, application, tokenId: tokenIdOf(token), journey: own };
  };
  type Paid = Awaited<ReturnType<typeof aPaidOne>>;
  const sums = async ({ id }: Paid) => {
    const [row] = await service.sql`
      select amount_refund_pending as pending from payments where id = ${id}`;
    return row?.['pending'] as number;
  };
  const denied = { code: '42501' };
  const refusal = /permission denied|row-level security|violates|the name on the command line/;
  const isRefused = (role: DatabaseRole, paid: Paid, more: Record<string, unknown>) =>
    expect(insertRefund(as[role], paid, more), JSON.stringify(more)).rejects.toThrow(refusal);
  const byApplication = (paid: Paid) => ({ requested_by: 'application', token: paid.tokenId });
  const byAdmin = (name: string, via: string) => ({
    ...{ requested_by: 'admin', asked_by: name, asked_via: via },
  });

  it('api: in the name of an admin, of nobody or of a token that may not refund', async () => {
    const paid = await aPaidOne();
    const other = await aPaidOne();
    const [weak] = await service.sql<{ id: string }[]>`
      insert into tokens (hash, prefix, application, mode, name)
      values (sha256(${paid.id}::bytea), 'svc_test_0000', ${paid.application}, 'test', 'weak')
      returning left(encode(hash, 'hex'), 16) as id`;
    for (const more of [
      { requested_by: 'admin' },
      { ...byApplication(paid), method: 'recorded' },
      { ...byApplication(paid), stage: 'by_hand' },
      { ...byApplication(paid), stage: null, status: 'succeeded' },
      { requested_by: 'gateway', stage: null, status: 'succeeded' },
      { ...byApplication(paid), token: null },
      { ...byApplication(paid), token: other.tokenId },
      { ...byApplication(paid), token: weak?.id },
    ])
      await isRefused('api', paid, more);
    expect(await sums(paid)).toBe(0);
  });

  it('api: puts one off, and calls one off at once', async () => {
    const paid = await aPaidOne();
    await insertRefund(as.api, paid, byApplication(paid));
    for (const change of [
      `due_at = now() + interval '1 year'`,
      'due_at = null',
      `due_at = now() + interval '1 year', cancel_requested = true`,
      'due_at = null, cancel_requested = true',
      'due_at = now()',
    ])
      await expect(
        as.api.unsafe(`update refunds set ${change} where payment_id = '${paid.id}'`),
        change,
      ).rejects.toMatchObject(denied);
    await as.api`
      update refunds set cancel_requested = true, due_at = now() where payment_id = ${paid.id}`;
  });

  it('api: beyond the limit of the day, or beyond what is left', async () => {
    const [paid, second, third] = [await aPaidOne(), await aPaidOne(), await aPaidOne()];
    await insertRefund(as.api, paid, byApplication(paid));
    expect(await sums(paid)).toBe(1_000);
    await expect(insertRefund(as.api, paid, byApplication(paid))).rejects.toMatchObject({
      constraint_name: 'refunds__left',
    });
    // Of one application.
    for (const each of [second, third])
      await service.sql`
        update payments set application = ${paid.application} where id = ${each.id}`;
    const same = { application: paid.application, tokenId: paid.tokenId };
    await insertRefund(as.api, { ...second, ...same }, byApplication(paid));
    await expect(
      insertRefund(as.api, { ...third, ...same }, byApplication(paid)),
    ).rejects.toMatchObject({ constraint_name: 'refund_limits__used' });
    await expect(
      as.api`update refunds set cancel_requested = true where payment_id = ${paid.id}`.then(
        () => as.api`update refunds set cancel_requested = false where payment_id = ${paid.id}`,
      ),
    ).rejects.toMatchObject(denied);
  });

  it.each(['console', 'admin'] as const)(
    '%s: above the amount of the rule without another admin',
    async (role) => {
      const via = role === 'admin' ? 'cli' : 'console';
      const paid = await aPaidOne();
      for (const name of ['ada-console', 'bob'])
        await service.sql`
          insert into console_people (name, role) values (${name}, 'admin') on conflict do nothing`;
      await createApprovals(as.admin, 'refund').set('EUR', 1_000);
      onTestFinished(() => createApprovals(as.admin, 'refund').set('EUR', null));
      const own = byAdmin(`ada-${role}`, via);
      for (const more of [
        { requested_by: 'application' },
        { ...own, asked_via: via === 'cli' ? 'console' : 'cli' },
        { ...own, stage: null, status: 'succeeded' },
        { ...own, stage: 'by_hand' },
        { ...own, asked_by: null },
        ...(role === 'console' ? [{ ...own, asked_by: 'invented' }] : []),
      ])
        await isRefused(role, paid, more);
      const [first] = await insertRefund(as[role], paid, { ...own, amount: 1_000 });
      expect(first?.to_confirm).toBe(false);
      // Dated back, it counts all the same.
      const past = new Date(Date.now() - 48 * 3_600_000);
      const [second] = await insertRefund(as[role], paid, {
        ...own,
        amount: 1,
        created_at: past,
      });
      expect(second?.to_confirm).toBe(true);
      const confirm = (actor: string, surface: string) => as[role]`
        insert into confirmations (refund_id, actor, via) values (${second?.id ?? ''}, ${actor}, ${surface})`;
      await expect(confirm(` ADA-${role}`, via)).rejects.toMatchObject({
        constraint_name: 'confirmations__other',
      });
      await expect(confirm('bob', via === 'cli' ? 'console' : 'cli')).rejects.toThrow(refusal);
      if (role === 'console') await expect(confirm('invented', via)).rejects.toThrow(refusal);
      await confirm('bob', via);
      const [row] = await service.sql`
        select to_confirm, due_at is not null as due from refunds where id = ${second?.id ?? ''}`;
      expect(row).toEqual({ to_confirm: false, due: true });
    },
  );

  it('console: settles what the service can still find out about', async () => {
    const paid = await aPaidOne();
    await insertRefund(as.api, paid, byApplication(paid));
    await expect(
      as.console`update refunds set settled_as = 'failed' where payment_id = ${paid.id}`,
    ).rejects.toMatchObject({ constraint_name: 'refunds__settled' });
  });

  it('worker: one that nobody made at the gateway, and the close of a day to come', async () => {
    const paid = await aPaidOne();
    await isRefused('worker', paid, { requested_by: 'application' });
    const closing = as.worker.begin(async (tx) => {
      await tx`
        insert into account_days (gateway, day, method, compared_at) values ('sandbox', '2999-01-01', 'each', now())`;
      await tx`
        update account_days set closed_at = now(), hash = 'x', movements = 0, sums = '[]' where day = '2999-01-01'`;
    });
    await expect(closing).rejects.toMatchObject(denied);
  });
});
