import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { disputeId, eventId, newLinkId, newReplayId, refundId } from '../../../contract/ids.ts';
import { startZibal } from '../../fakes/zibal.ts';
import { createJourney, type Answer, type Journey } from '../../support/service/journey.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { startService } from '../../support/service/service.ts';
import { addStripe, noticeOf } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const postgres = await startOwnPostgres({ log_statement: 'all', log_line_prefix: '%a: ' });
const service = await forFile(startService({ database: postgres }));
await forFile(addStripe(service));
const stripeLive = await forFile(addStripe(service, 'stripe-live', 'live'));
const zibalLive = await forFile(startZibal());
const zibalCredentials = { merchant: 'live-merchant', baseUrl: zibalLive.url };
await service.addGateway({
  ...({ slug: 'zibal-live', driver: 'zibal', kind: 'live' } as const),
  credentials: zibalCredentials,
});

/** The statements that both processes have sent since this line of the log, each after the name of its process. */
const statementsSince = async (line: number): Promise<string[]> => {
  const mark = `mark ${line}`;
  await postgres.sql.unsafe(`select '${mark}'`);
  await until('the log is written', () =>
    postgres.lines.slice(line).some((each) => each.includes(mark)),
  );
  const text = postgres.lines.slice(line).join('\n');
  const pattern = /^payments-(api|worker): LOG: {2}(?:execute [^:]*|statement): ([^]*?)(?=\n\S)/gm;
  return [...text.matchAll(pattern)].map(
    ([, process, statement = '']) => `${process}: ${statement.replaceAll(/\s+/g, ' ').trim()}`,
  );
};

/** The statements that the API sent during `work`, without those of its timers and after a response. */
const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  const from = postgres.lines.length;
  await work();
  const timers =
    /^api: (delete from workflow_outbox|select clock_timestamp|select b.oid, b.typarray from pg_catalog.pg_type|select count\(\*\) from \( select from workflow_outbox)/;
  return (await statementsSince(from)).filter(
    (statement) => statement.startsWith('api: ') && !timers.test(statement),
  );
};

it('a request takes two statements for a create or a read, one for /me and none for a malformed token', async () => {
  const { journey } = await service.anApplication();
  let id = '';
  const create = await statementsOf(async () => (id = await journey.create()));
  expect(create).toEqual([
    expect.stringMatching(/^api: with token as .*request_counts/),
    expect.stringMatching(/^api: with key as .*insert into payments/),
  ]);
  const withKey = await statementsOf(() =>
    journey.request(
      'POST',
      '/api/v1/payments',
      { order_id: 'o', amount: 1, currency: 'EUR', gateway: 'sandbox' },
      { 'idempotency-key': 'k' },
    ),
  );
  expect(withKey).toHaveLength(2);
  const withPayer = await statementsOf(() =>
    journey.create({ payer: { mobile: '09121234567', email: 'ada@shop.example', locale: 'fa' } }),
  );
  expect(withPayer).toEqual([
    expect.stringMatching(/^api: with token as .*request_counts/),
    expect.stringMatching(/^api: with key as .*insert into payments.*insert into payers/),
  ]);
  expect(create[1]).not.toContain('payers');
  expect(await statementsOf(() => journey.get(id))).toHaveLength(2);
  expect(await statementsOf(() => journey.request('GET', '/api/v1/payments'))).toHaveLength(2);
  expect(await statementsOf(() => journey.request('GET', '/api/v1/me'))).toHaveLength(1);
  expect(await statementsOf(() => createJourney(service, 'nonsense').get(id))).toHaveLength(0);
});

/** Leaves out the statements of the driver, of the backlog metrics and of the sweeper. */
const isOfPayment = (statement: string) =>
  !/pg_catalog|select clock_timestamp|: select count\(\*\) from \( select from|gateways g where exists|limit \$\d+ for update skip locked|delete from idempotency_keys|delete from payers where payment_id = any|from workflow_outbox u join|^worker: delete from workflow_outbox/.test(
    statement,
  );

const isOpened = async (id: string) => {
  const [row] = await service.sql`
    select from payments where id = ${id} and gateway_redirect is not null`;
  return row !== undefined;
};
const hasLeftOutbox = async (id: string) => {
  const [row] = await service.sql`select from workflow_outbox where payment_id = ${id}`;
  return row === undefined;
};

const paidAt = {
  async sandbox(journey: Journey, id: string) {
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
  },
  async 'stripe-live'(journey: Journey, id: string) {
    const reference = stripeLive.referenceOf(id);
    stripeLive.pay(reference);
    await journey.call('GET', stripeLive.back(reference).url);
  },
  async 'zibal-live'(journey: Journey, id: string) {
    const [reference = ''] =
      [...zibalLive.book].find(([, { paymentId }]) => paymentId === id) ?? [];
    zibalLive.pay(reference);
    await journey.call('GET', zibalLive.back(reference).url);
  },
};

/** All statements of one payment from its create to its delivery, by process. */
const statementsOfPayment = async (
  journey: Journey,
  { isEarly, gateway = 'sandbox' }: { isEarly: boolean; gateway?: keyof typeof paidAt },
) => {
  const from = postgres.lines.length;
  const money = gateway === 'zibal-live' ? { amount: 150_000, currency: 'IRR' } : {};
  const id = await journey.create({ order_id: randomUUID(), gateway, ...money });
  if (!isEarly) await until('it is opened', () => isOpened(id));
  expect((await journey.checkout(id)).status).toBe(302);
  await paidAt[gateway](journey, id);
  await service.client.workflow.getHandle(id).result();
  await until('the API has deleted its outbox row', () => hasLeftOutbox(id));
  const all = (await statementsSince(from)).filter(isOfPayment);
  const of = (process: string) => all.filter((each) => each.startsWith(`${process}: `));
  return {
    api: of('api'),
    worker: of('worker'),
    list: all.map((each) => each.slice(0, 110)).join('\n'),
  };
};

/** A waiting checkout polls as often as the machine allows, so its polls count as one statement. */
const withPollsAsOne = (statements: readonly string[]): string[] => {
  const isPoll = (each: string) => each.includes('update payments p set checkout_at');
  return statements.filter(
    (each, index) => !isPoll(each) || statements.findIndex(isPoll) === index,
  );
};

it('a paid payment costs at most 6 statements of the API and 9 of the worker', async () => {
  const journey = (await service.anApplication()).journey;
  // The first payment also opens connections.
  await statementsOfPayment(journey, { isEarly: false });
  const { api, worker, list } = await statementsOfPayment(journey, { isEarly: false });
  expect(api.length, list).toBeLessThanOrEqual(6);
  expect(worker.length, list).toBeLessThanOrEqual(9);
});

it('a payer who comes before the opening costs at most one statement more, with all polls as one', async () => {
  const journey = (await service.anApplication()).journey;
  const { api, worker, list } = await statementsOfPayment(journey, { isEarly: true });
  expect(withPollsAsOne(api).length, list).toBeLessThanOrEqual(7);
  expect(worker.length, list).toBeLessThanOrEqual(9);
});

/** The table that a statement writes, and the first column that it sets; one that writes nothing is itself. */
const kindOf = (statement: string): string => {
  const writes = statement.match(/(?:insert into|update|delete from) \w+(?: p set \w+)?/g);
  return writes ? `${statement.slice(0, 4)} ${writes.join()}` : statement;
};

/** The statements of the first list that the second one does not have. */
const beyond = (list: readonly string[], other: readonly string[]): string[] => {
  const rest = other.map(kindOf);
  return list.filter((each) => {
    const at = rest.indexOf(kindOf(each));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
};

it.each([
  ['zibal-live', [expect.stringMatching(/^worker: update payments p set order_claimed_at = /)]],
  ['stripe-live', []],
] as const)(
  'an order that is paid once costs at %s the claim alone, and only a two-step gateway has one',
  async (gateway, claim) => {
    const of = async (ordersPaidOnce: boolean) => {
      const { journey } = await service.anApplication({ mode: 'live', ordersPaidOnce });
      const ofOne = async () => {
        const { api, worker } = await statementsOfPayment(journey, { isEarly: false, gateway });
        return [...api, ...worker];
      };
      // The first payment also opens connections.
      await ofOne();
      const [one, another] = [await ofOne(), await ofOne()];
      // A sweep falls into one of the two at most.
      return beyond(one, beyond(one, another));
    };
    const off = await of(false);
    const on = await of(true);
    // A statement that stands alone is a transaction: `begin` and `commit` would be further ones.
    expect(beyond(on, off)).toEqual(claim);
    expect(beyond(off, on)).toEqual([]);
  },
);

const body = { order_id: 'o', amount: 1, currency: 'EUR' };
const day = { from: '2026-11-01', to: '2026-11-01' };

/** The form of a link in a mail, of which no mail had one. */
const linkPath = `/api/v1/links/${newLinkId()}`;
const noticePath = `/api/v1/notices/${'x'.repeat(43)}`;

/** A request of each route that reads or writes records. */
const requestsOf = (
  journey: Journey,
  { id, event, replayId }: { id: string; event: string; replayId: string },
) => ({
  forApplications: {
    me: () => journey.request('GET', '/api/v1/me'),
    create: () => journey.request('POST', '/api/v1/payments', body),
    list: () => journey.request('GET', '/api/v1/payments'),
    get: () => journey.get(id),
    verify: () => journey.verify(id),
    listEvents: () => journey.request('GET', '/api/v1/events'),
    getEvent: () => journey.request('GET', `/api/v1/events/${event}`),
    countReplay: () => journey.request('POST', '/api/v1/replays', { ...day, dry_run: true }),
    getReplay: () => journey.request('GET', `/api/v1/replays/${replayId}`),
    stopReplay: () => journey.request('POST', `/api/v1/replays/${replayId}/stop`),
    cancel: () => journey.request('POST', `/api/v1/payments/${id}/cancel`),
    refund: () =>
      journey.request('POST', `/api/v1/payments/${id}/refunds`, {}, { 'idempotency-key': 'r' }),
    listRefundsOf: () => journey.request('GET', `/api/v1/payments/${id}/refunds`),
    listRefunds: () => journey.request('GET', '/api/v1/refunds'),
    listGateways: () => journey.request('GET', '/api/v1/gateways'),
    listDisputesOf: () => journey.request('GET', `/api/v1/payments/${id}/disputes`),
    listDisputes: () => journey.request('GET', '/api/v1/disputes'),
    getDispute: () => journey.request('GET', `/api/v1/disputes/${disputeId('stripe', 'none')}`),
    listMovements: () => journey.request('GET', '/api/v1/movements'),
    createLink: () =>
      journey.request('POST', '/api/v1/links', { order_id: 'o', amount: 1250, currency: 'EUR' }),
    listLinks: () => journey.request('GET', '/api/v1/links'),
    getLink: () => journey.request('GET', linkPath),
    disableLink: () => journey.request('POST', `${linkPath}/disable`),
    getWebhook: () => journey.request('GET', '/api/v1/webhook'),
    getRefund: () => journey.request('GET', `/api/v1/refunds/${refundId(['none'])}`),
    cancelRefund: () => journey.request('POST', `/api/v1/refunds/${refundId(['none'])}/cancel`),
    notification: () =>
      journey.call('POST', '/api/v1/gateways/stripe/notifications', noticeOf('cs_test_x')),
    report: () => journey.call('POST', `/api/v1/payments/${id}/reports/x`),
  },
  forPayers: {
    checkout: () => journey.checkout(id),
    return: () => journey.comeBack(id),
    postedReturn: () => journey.call('POST', `/api/v1/payments/${id}/return`),
    sandbox: () => journey.call('GET', `/api/v1/sandbox/${id}`),
    choose: () => journey.choose(id, 'pay'),
    outcome: () => journey.call('GET', `/api/v1/payments/${id}/outcome`),
    showLink: () => journey.call('GET', `${linkPath}/pay`),
    payLink: () => journey.call('POST', `${linkPath}/pay`),
    showUnsubscription: () => journey.call('GET', noticePath),
    unsubscribe: () => journey.call('POST', noticePath),
    showConfirmation: () => journey.call('GET', `${noticePath}/confirm`),
    confirmNotices: () => journey.call('POST', `${noticePath}/confirm`),
  },
});

describe.each(['stopped', 'frozen'])('while Postgres is %s', (how) => {
  const disturb = async () => {
    if (how === 'frozen') return postgres.freeze();
    await postgres.stop();
    return async () => void (await postgres.start());
  };

  it('every route answers 503 soon, and works again when Postgres is back', async () => {
    const { journey } = await service.anApplication();
    const id = await journey.atGateway();
    const event = eventId(await journey.finish('pay'));
    const started = await journey.request('POST', '/api/v1/replays', day);
    const replayId = String(started.json['replay_id']);
    const { forApplications, forPayers } = requestsOf(journey, { id, event, replayId });
    const requests = Object.entries({ ...forApplications, ...forPayers });
    const restore = await disturb();
    try {
      for (let round = 1; round <= 3; round += 1)
        await Promise.all(
          requests.map(async ([name, send]) => {
            const startedAt = performance.now();
            const answer = await send();
            // The query timeout is 1.5 s, for which each round waits while Postgres is frozen; a busy machine needs more.
            expect(performance.now() - startedAt, name).toBeLessThan(25_000);
            expect(answer.status, `${name}: ${answer.text}`).toBe(503);
            expect(answer.headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/);
            if (name in forPayers) expect(answer.text).toMatch(/^<!doctype html>/);
            else expect(answer.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
          }),
        );
    } finally {
      await restore();
    }
    for (const [name, send] of requests)
      await until(`${name} works again`, async () => (await send()).status < 500);
  });
});

describe('an unexpected error, as if a release went out before its migration', () => {
  let requests: ReturnType<typeof requestsOf>;
  let journey: Journey;
  let event: string;
  beforeAll(async () => {
    ({ journey } = await service.anApplication());
    const id = await journey.atGateway();
    event = eventId(id);
    requests = requestsOf(journey, { id, event, replayId: newReplayId() });
    await service.worker.stop();
    for (const table of ['tokens', 'payments', 'gateways', 'sandbox_payments', 'notice_links'])
      await service.sql.unsafe(`alter table ${table} rename to ${table}_of_the_next_version`);
  });

  /** Waits for the cause in the log, with the id of the request. */
  const isLogged = (requestId: string | null) =>
    until('the cause is logged', () =>
      service.api.lines.some(
        (line) => line.includes(`"${requestId}"`) && line.includes('does not exist'),
      ),
    );

  it('answers INTERNAL to an application, without its cause', async () => {
    const others: Record<string, () => Promise<Answer>> = {
      replayEvent: () => journey.request('POST', `/api/v1/events/${event}/replay`),
      createReplay: () => journey.request('POST', '/api/v1/replays', day),
      testWebhook: () => journey.request('POST', '/api/v1/webhook/test', {}),
    };
    for (const [name, send] of Object.entries({ ...requests.forApplications, ...others })) {
      const { status, json, headers } = await send();
      expect(status, name).toBe(500);
      const requestId = headers.get('x-request-id');
      expect(json, name).toEqual({
        error: {
          code: 'INTERNAL',
          message: 'The service has failed to handle the request.',
          request_id: requestId,
        },
      });
      await isLogged(requestId);
    }
  });

  it('answers a payer with a page', async () => {
    for (const [name, send] of Object.entries(requests.forPayers)) {
      const { status, text, headers } = await send();
      expect(status, name).toBe(500);
      expect(text).toMatch(/^<!doctype html>/);
      expect(text).toContain('This says nothing about your payment.');
      expect(text).not.toMatch(/relation|does not exist|payments\.ts/);
      const requestId = headers.get('x-request-id');
      expect(text).toContain(requestId);
      await isLogged(requestId);
    }
  });
});
