import { afterAll, describe, expect, inject, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { createProofs } from '../../../postgres/gateways/proofs.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import { accountDayWorkflowId } from '../../../temporal/messages.ts';
import { belongsTo } from '../../support/data/rows-of-payment.ts';
import { aDatabase } from '../../support/data/database.ts';
import { operationsOf, operationsOn } from '../../support/service/admin-operations.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { createProcess } from '../../support/service/processes.ts';
import { startService } from '../../support/service/service.ts';
import { databaseRoles, forbiddenTo } from '../../support/checks/forbidden-statements.ts';
import { testLinkRights } from '../../support/checks/link-rights.ts';
import { createLogins, isInRoles, listRights } from '../../support/checks/rights.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { startProviders } from '../../support/service/providers.ts';
import { addStripe, noticeOf } from '../../support/service/stripe-account.ts';
import { terminate } from '../../support/service/terminate.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const database = await aDatabase();
const { urls, as } = await createLogins(database);
const service = await forFile(
  startService({ database, apiEnv: { DATABASE_URL: urls.api }, withoutWorker: true }),
);
// It is on this machine, where mails go without TLS.
const mailServer = await forFile(
  startMailServer({ user: 'payments', password: 'hunter2', tls: false }),
);
// Each with the login and the key of its own queue alone.
const { SECRETS_KEY, WEBHOOKS_KEY, ...env } = service.env;
const aWorker = async (queue: string, url: string, itsOwn: Record<string, string>) => {
  const worker = createProcess('worker', 'worker/main.ts', {
    ...env,
    ...itsOwn,
    TASK_QUEUES: queue,
    DATABASE_URL: url,
    ALLOW_LOOPBACK_TARGETS: 'true',
    WORKFLOW_BUNDLE: inject('workflowBundle'),
    METRICS_PORT: '0',
  });
  await worker.start();
  return worker;
};
const workers = await Promise.all([
  forFile(aWorker('payments', urls.worker, { SECRETS_KEY })),
  // It alone knows the mail server.
  forFile(
    aWorker('webhooks', urls.webhooks, {
      ...{ WEBHOOKS_KEY, SMTP_HOST: '127.0.0.1', SMTP_PORT: String(mailServer.port) },
      ...{ SMTP_USER: 'payments', SMTP_PASSWORD: 'hunter2', SMTP_FROM: 'payments@pay.example' },
    }),
  ),
]);
afterAll(() => Promise.all(Object.values(as).map((sql) => sql.end({ timeout: 1 }))));
const admin = operationsOf(service, { sql: as.admin });
const stripe = await forFile(addStripe(service));
const providers = await forFile(startProviders(service));
const { journey } = await service.anApplication();

const delivered = (id: string) => until('the webhook', () => service.receiver.of(id)[0]);
const becomes = (id: string, status: string) =>
  until(`its delivery is ${status}`, async () => {
    const [row] = await service.sql`select status from deliveries where payment_id = ${id}`;
    return row?.['status'] === status;
  });

describe('each process under its own database role', () => {
  it.each([
    ['pay', 'paid'],
    ['refuse', 'failed'],
    ['cancel', 'cancelled'],
  ])('api and worker end a payment whose payer chooses %s as %s', async (action, status) => {
    const id = await journey.finish(action);
    await delivered(id);
    expect((await journey.get(id)).json['status']).toBe(status);
  });

  it('api and worker expire a payment, and end one by a notification of its gateway', async () => {
    const waiting = await journey.atGateway();
    await skipAllTime(service.client, waiting);
    await delivered(waiting);
    const id = await journey.atGateway({ gateway: 'stripe' });
    stripe.pay(stripe.referenceOf(id));
    const notice = noticeOf(stripe.referenceOf(id), {});
    const told = await journey.call('POST', '/api/v1/gateways/stripe/notifications', notice);
    expect(told.status).toBe(200);
    await delivered(id);
    expect((await journey.get(id)).json['status']).toBe('paid');
  });

  it('the api lists, verifies and replays an idempotency key, and reuses an expired one', async () => {
    const body = { order_id: 'order-key', amount: 1250, currency: 'EUR' };
    const create = () =>
      journey.request('POST', '/api/v1/payments', body, { 'idempotency-key': 'role-1' });
    const [one, two] = [await create(), await create()];
    expect(two.text).toBe(one.text);
    await service.sql`update idempotency_keys set expires_at = now() - interval '1 minute'`;
    const three = await create();
    expect([three.status, three.text === one.text]).toEqual([201, false]);
    expect((await journey.request('GET', '/api/v1/payments')).status).toBe(200);
    expect((await journey.request('GET', '/api/v1/me')).status).toBe(200);
    expect((await journey.verify(String(three.json['payment_id']))).status).toBe(200);
  });

  it('the sweeper starts workflows, inquires, heals and deletes expired keys', async () => {
    const closed = await journey.atGateway();
    await journey.choose(closed, 'pay_and_close');
    await service.sql`
      update payments set checkout_at = now() - interval '3 minutes' where id = ${closed}`;
    const lost = await journey.atGateway();
    await service.client.workflow.getHandle(lost).terminate('a test');
    await service.sql`
      update payments set expires_at = now() - interval '21 minutes' where id = ${lost}`;
    const outboxRow = () => service.sql`select from workflow_outbox where payment_id = ${lost}`;
    await until('the api has deleted its outbox row', async () => (await outboxRow()).length === 0);
    await service.sql`
      insert into workflow_outbox (payment_id, created_at) values (${lost}, now() - interval '1 minute')`;
    await service.sql`update idempotency_keys set expires_at = now() - interval '1 minute'`;
    await sweepNow(service.client);
    for (const id of [closed, lost]) expect((await delivered(id)).json['payment_id']).toBe(id);
    await until('no key and no outbox row is left', async () => {
      const [row] = await service.sql<{ left: number }[]>`
        select (select count(*) from idempotency_keys) + (select count(*) from workflow_outbox) as left`;
      return row?.left === 0;
    });
  });

  it('the worker finds and records a late payment', async () => {
    const { id, reference } = await providers.sent(journey, 'zarinpal');
    await skipAllTime(service.client, id);
    await delivered(id);
    await providers.of('zarinpal').pay(reference);
    // Somebody confirmed it at the gateway, so it has to be reversed.
    providers.of('zarinpal').move(reference, 'VERIFIED');
    await providers.comeBack(journey, 'zarinpal', reference);
    const result = await until('it is resolved', async () => {
      const [row] = await service.sql<{ result: string | null }[]>`
        select result from late_payments where payment_id = ${id}`;
      return row?.result ?? false;
    });
    expect(result).toBe('reversed');
  });

  it('the worker records a duplicate once, and an admin reads it', async () => {
    const facts = { application: 'shop', test: false, order_id: 'twice', duplicate_of: 'PAY_1' };
    for (const id of ['PAY_2', 'PAY_3'])
      await createAuditLog(as.worker).insertDuplicate('payment.duplicate', id, facts);
    const log = await admin.auditLog({ subject: null, limit: 1_000 });
    expect(log.filter(({ action }) => action === 'payment.duplicate')).toMatchObject([
      { subject: 'payment:PAY_2', after: facts, payments: 0 },
    ]);
  });

  it('the worker claims a proof for one payment, and takes numbers of orders', async () => {
    const proofs = createProofs(as.worker);
    expect(await proofs.claim('sandbox', 'PAY_1', 'RRN-1')).toBe(true);
    expect(await proofs.claim('sandbox', 'PAY_2', 'RRN-1')).toBe(false);
    expect(await proofs.nextOrderNumber()).toBeLessThan(await proofs.nextOrderNumber());
  });

  it('an admin replays an exhausted delivery', async () => {
    service.receiver.behave(() => 500);
    const id = await journey.finish('pay');
    await delivered(id);
    await skipAllTime(service.client, id);
    await becomes(id, 'exhausted');
    service.receiver.behave(() => 204);
    expect(await admin.replays.replayOne(eventId(id), null)).toBe('at once');
    await becomes(id, 'delivered');
  });

  it('the admin runs every operation', async () => {
    const callbackUrls = ['https://roles.example/return'];
    const made = { slug: 'roles', defaultGateway: 'sandbox', callbackUrls, webhookUrl: null };
    await admin.applications.create(made, null);
    await admin.applications.update('roles', { requestsPerMinute: 5 }, null);
    const token = { application: 'roles', mode: 'test', name: 'a', expiresAt: null } as const;
    await admin.tokens.issue(token, null);
    const [issued] = await admin.tokens.list('roles', 100);
    await admin.tokens.revoke({ application: 'roles', id: issued?.id ?? '' }, null);
    await admin.secrets.rotate('roles', null);
    const [, old] = await admin.secrets.list('roles');
    await admin.secrets.retire({ application: 'roles', id: old?.id ?? 0 }, null);
    await admin.secrets.reseal(null);
    const gateway = {
      slug: 'roles',
      driver: 'sandbox',
      kind: 'sandbox',
      credentials: null,
    } as const;
    await admin.gateways.add(gateway, null);
    await admin.gateways.setEnabled('roles', false, null);
    await admin.console.add({ name: 'roles', role: 'viewer', email: 'roles@example.com' }, null);
    expect((await admin.console.issueLink({}, { name: 'roles' })).role).toBe('viewer');
    expect(await admin.console.people(100)).toMatchObject([{ name: 'roles', unusedLinks: 1 }]);
    expect(await admin.console.list(100)).toEqual([]);
    expect(await admin.console.logOut('roles', null)).toEqual({ sessions: 0, links: 1 });
    await admin.console.remove('roles', null);
    const id = await journey.atGateway();
    expect((await admin.payments.get(id)).payment.status).toBe('pending');
    await terminate(service.client, id);
    await service.sql`update payments set created_at = now() - interval '2 minutes' where id = ${id}`;
    const how = { since: null, limit: 100, scan: 1_000, heal: true, reason: null };
    expect((await admin.reconcile(how)).differences).toMatchObject([
      { paymentId: id, healed: true },
    ]);
    expect(await admin.auditLog({ subject: null, limit: 100 })).not.toEqual([]);
  });

  it('the worker for webhooks mails an address, which agrees and is told about its receiver', async () => {
    const { application } = await service.anApplication();
    await admin.notices.add(application, 'ops@shop.example', null);
    const mailWith = (part: string) =>
      until(`a mail with ${part}`, () => mailServer.mails.find(({ text }) => text.includes(part)));
    const link = /https?:\/\/\S+\/confirm/.exec((await mailWith('/confirm')).text)?.[0] ?? '';
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    // As the sweeper writes it.
    await as.worker`
      insert into notices (application, kind, state_since, address, created_at, next_try_at)
      values (${application}, 'failing', now(), 'ops@shop.example', now(), now())`;
    const told = await mailWith(`No further mails about ${application}`);
    const unsubscribe = /List-Unsubscribe: <([^>]+)>/.exec(told.text)?.[1] ?? '';
    expect((await fetch(unsubscribe, { method: 'POST' })).status).toBe(200);
    expect(await admin.notices.list(application)).toMatchObject([
      { confirmedAt: expect.any(Date), unsubscribedAt: expect.any(Date) },
    ]);
    await admin.notices.remove(application, 'ops@shop.example', null);
  });

  it('the worker compares and closes a day, and an admin explains what differs', async () => {
    const { sql, client } = service;
    await sql`update gateways set created_at = now() - interval '3 days' where slug = 'stripe'`;
    const at = new Date(Date.now() - 3 * 24 * 3_600_000);
    const day = at.toISOString().slice(0, 10);
    const charge = { amount: 990, currency: 'eur', trackingCode: 'pi_roles', paymentId: '' };
    stripe.charge(charge, { at, fee: 30 });
    const account = { gateway: 'stripe', day };
    await admin.accounts.compare(account);
    await client.workflow.getHandle(accountDayWorkflowId(account)).result();

    const filter = { ...account, state: null, application: null, test: null };
    const [difference] = await admin.accounts.listDifferences(filter, 10);
    expect(difference).toMatchObject({ kind: 'captured_unknown', theirAmount: 990 });
    await admin.accounts.explain(difference?.id ?? 0, 'of the shop before');
    const range = { gateway: 'stripe', application: null, test: null, from: day, to: day };
    const { lines, open } = await admin.accounts.exportMovements(range);
    expect(open).toEqual([]);
    let csv = '';
    for await (const part of lines) csv += part;
    expect(csv).toContain(',-30,-0.30,');
    for await (const { whole } of admin.accounts.verify()) expect(whole).toBe(true);
    const terms = { timeZone: 'Asia/Tehran', feeBasisPoints: 140 };
    await admin.gateways.setAccount('stripe', terms, null);
  });

  it('the purge deletes response bodies, then payments with all their rows', async () => {
    const id = await journey.finish('pay');
    await delivered(id);
    await becomes(id, 'delivered');
    await service.sql`update attempts set response_body = 'thanks' where event_id = ${eventId(id)}`;
    const purge = (paymentDays: number | null) =>
      operationsOn(as.retention, {
        retention: { attemptBodyDays: 90, paymentDays },
        now: () => new Date(Date.now() + 401 * 24 * 3_600_000),
      }).purge(1_000, null);
    const left = (table: string) => service.sql`
      select * from ${service.sql(table)} where ${belongsTo(service.sql, table, id)}`;
    expect(await left('gateway_exchanges')).not.toEqual([]);

    await expect(admin.purge(1_000, null)).rejects.toThrow(/admin\S* .*payments_retention/);
    expect(await admin.auditLog({ subject: 'retention', limit: 1 })).toEqual([]);
    expect(await purge(null)).toEqual({ attemptBodies: 1, payments: 0 });
    expect(await left('attempts')).toMatchObject([{ response_body: null }]);
    expect((await purge(400)).payments).toBeGreaterThan(0);
    for (const table of ['gateway_exchanges', 'attempts', 'deliveries', 'events'])
      expect(await left(table), table).toEqual([]);
    expect((await journey.get(id)).status).toBe(404);
  });

  testLinkRights(service, as);

  it('no statement of the processes was refused', () => {
    const lines = [service.api, ...workers].flatMap((process) => process.lines);
    expect(lines.filter((line) => line.includes('permission denied'))).toEqual([]);
  });
});

describe('a database role is refused', () => {
  const cases = databaseRoles.flatMap((role) =>
    forbiddenTo(role).map((statement) => [role, statement] as const),
  );
  it.each(cases)('%s: %s', async (role, statement) => {
    const refused = as[role].begin(async (tx) => {
      await tx.unsafe(statement);
      throw new Error('It was not refused');
    });
    // 42501: insufficient privilege.
    await expect(refused).rejects.toMatchObject({ code: '42501' });
  });

  it('each: every right that rights.txt does not give it', async () => {
    const rights: string[] = [];
    for (const role of databaseRoles) {
      const lines = await listRights(as[role]);
      rights.push(...lines.map((line) => `${role} ${line}\n`));
    }
    await expect(rights.join('')).toMatchFileSnapshot('../../support/checks/rights.txt');
  });

  it('api: clearing checkout_at, because the payer may have paid', async () => {
    const id = await journey.atGateway();
    const refused = as.api`update payments set checkout_at = null where id = ${id}`;
    await expect(refused).rejects.toMatchObject({ code: '42501' });
    await as.api`update payments set checkout_at = now() where id = ${id}`;
  });

  it('api: agrees to notices or ends them in the place of a person', async () => {
    const { application } = await service.anApplication();
    await admin.notices.add(application, 'person@shop.example', null);
    const hash = '\\x0102';
    for (const change of [
      'confirmed_at = now()',
      'unsubscribed_at = now()',
      'unsubscribed_at = null',
    ])
      await expect(
        as.api.unsafe(`update notice_addresses set ${change}`),
        change,
      ).rejects.toMatchObject({ code: '42501' });
    for (const forged of [
      `insert into notice_links (hash, application, address) values ('${hash}', '${application}', 'person@shop.example')`,
      `update notice_links set hash = '${hash}'`,
      'select agree_to_notices(encode(hash, $$hex$$)) from notice_links',
    ]) {
      const tried = as.api.unsafe(forged);
      if (forged.startsWith('select')) await tried;
      else await expect(tried, forged).rejects.toMatchObject({ code: '42501' });
    }
    expect(await admin.notices.list(application)).toMatchObject([
      { confirmedAt: null, unsubscribedAt: null },
    ]);
  });

  it('every table is granted to a role', async () => {
    const rows = await service.sql<{ table: string }[]>`
      select relname as table from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and relname <> 'migrations'`;
    expect(rows.filter(({ table }) => !isInRoles(table))).toEqual([]);
  });
});
