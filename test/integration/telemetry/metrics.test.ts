import { beforeEach, describe, expect, it } from 'vitest';
import { alerts } from '../../../contract/alerts.ts';
import { sealCredentials } from '../../../gateways/registry.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { startZibal } from '../../fakes/zibal.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { createWatch, scrape, type Labels } from '../../support/service/metrics.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { pendingSweep, sweepDetails, sweepNow } from '../../support/service/sweep-now.ts';
import { waitForFirstAttempt } from '../../support/service/first-attempt.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService({ ownTemporal: true }));
const watch = createWatch(service.metricsUrls);
const journey = (await service.anApplication()).journey;
/** An account whose money is real, as far as the service knows. */
const startLive = async () => {
  const bank = await startZibal();
  const account = { slug: 'live', driver: 'zibal' };
  await createGateways(service.sql).insert({
    ...account,
    kind: 'live',
    ...sealCredentials(
      { ...account, credentials: { merchant: 'live-merchant', baseUrl: bank.url } },
      service.seals,
    ),
  });
  await service.allowGateway(account.slug);
  const {
    journey: { create, checkout, call },
  } = await service.anApplication({ mode: 'live' });
  const createLive = () => create({ gateway: 'live', amount: 150_000, currency: 'IRR' });
  const sent = async () => {
    const id = await createLive();
    await checkout(id);
    const [reference = ''] = [...bank.book].find(([, { paymentId }]) => paymentId === id) ?? [];
    return { id, reference };
  };
  return {
    create: createLive,
    sent,
    async pay() {
      const { reference } = await sent();
      bank.pay(reference);
      const { method, url } = bank.back(reference);
      await call(method, url);
    },
    stop: () => bank.stop(),
  };
};
const live = await forFile(startLive());
beforeEach(() => service.receiver.behave(() => 204));

/** A delivery whose first attempt has failed. The second one is due in a minute. */
const aFailingDelivery = async (): Promise<string> => {
  service.receiver.behave(() => 500);
  const id = await journey.finish('pay');
  await waitForFirstAttempt(service.sql, id);
  return id;
};

/** A metric of a process that grows by this or more. */
const moveOf =
  (part: 'api' | 'worker') =>
  (name: string, labels: Labels = {}, by = 1) => ({ part, name, labels, by });
const [ofApi, ofWorker] = [moveOf('api'), moveOf('worker')];
const workerHas = (name: string, is: (value: number) => boolean, labels: Labels = {}) =>
  watch.isNow('worker', name, labels, is);
const isZero = (value: number) => value === 0;

/** Checks that each metric changes. */
const checks: Record<string, (name: string) => Promise<void>> = {
  payments_http_requests_total: async (name) => {
    const route = '/api/v1/payments/:payment_id';
    await watch.grow([ofApi(name, { method: 'GET', route, status: '404' })], () =>
      journey.get('PAY_1'),
    );
    await watch.grow([ofApi(name, { method: 'none', route: 'none', status: '404' })], () =>
      fetch(`${service.url}/made/up?by=${Math.random()}`),
    );
    // Labels from the request would grow without a limit.
    const { samples } = await scrape(service.metricsUrls.api);
    expect(samples.filter(({ labels }) => JSON.stringify(labels).includes('made'))).toEqual([]);
  },
  payments_http_request_duration_seconds: (name) =>
    watch.grow([ofApi(`${name}_count`, { method: 'POST', route: '/api/v1/payments' })], () =>
      journey.create(),
    ),
  payments_created_total: async (name) => {
    const headers = { 'idempotency-key': 'once' };
    const body = { order_id: 'o', amount: 1250, currency: 'EUR' };
    const create = () => journey.request('POST', '/api/v1/payments', body, headers);
    const labels = { gateway: 'sandbox' };
    await watch.grow([ofApi(name, labels)], create);
    const count = await watch.valueOf('api', name, labels);
    expect((await create()).headers.get('idempotent-replayed')).toBe('true');
    expect(await watch.valueOf('api', name, labels)).toBe(count);
  },
  payments_clock_offset_seconds: async (name) => {
    // Half of a slow question to Postgres counts as offset.
    for (const part of ['api', 'worker'] as const)
      await watch.isNow(part, name, {}, (value) => Math.abs(value) < 1);
  },
  payments_database_connections_max: async (name) => {
    expect(await watch.valueOf('api', name)).toBe(8);
    expect(await watch.valueOf('worker', name)).toBe(20);
  },
  payments_database_statements_in_flight: async (name) => {
    const held = await holdLock(service.sql, (tx) => tx`lock table idempotency_keys, payments`);
    const creates = Promise.all([journey.create(), journey.create()]);
    await watch.isNow('api', name, {}, (value) => value >= 2);
    await held.release();
    await creates;
    await watch.isNow('api', name, {}, isZero);
  },
  payments_database_statement_duration_seconds: (name) =>
    watch.grow([ofApi(`${name}_count`, {}, 2), ofWorker(`${name}_count`, {}, 2)], () =>
      journey.finish('pay'),
    ),
  payments_outcomes_total: (name) => {
    const outcome = (status: string, failure_code = 'none') =>
      ofWorker(name, { gateway: 'sandbox', kind: 'sandbox', status, failure_code });
    return watch.grow(
      [outcome('paid'), outcome('cancelled'), outcome('failed', 'card_declined')],
      async () => {
        await journey.finish('pay');
        await journey.finish('cancel');
        await journey.finish('refuse', { failure_code: 'card_declined' });
      },
    );
  },
  payments_alerts_total: async (name) => {
    // Every alert exists before its first event: Prometheus misses the increase of a new series.
    const { samples } = await scrape(service.metricsUrls.worker);
    const existing = samples.filter((sample) => sample.name === name);
    expect(existing.map(({ labels }) => labels['alert'])).toEqual(alerts);
    await watch.grow([ofWorker(name, { alert: 'duplicate_payment' })], async () => {
      // Two payments of the same order, with money that is real.
      for (let nth = 1; nth <= 2; nth += 1) await live.pay();
    });
    const counted = await watch.valueOf('worker', name);
    // The same of a sandbox account pages nobody.
    for (let nth = 1; nth <= 2; nth += 1) await journey.finish('pay');
    expect(await watch.valueOf('worker', name)).toBe(counted);
  },
  payments_time_to_outcome_seconds: (name) =>
    watch.grow([ofWorker(`${name}_sum`, { status: 'paid' }, 600)], async () => {
      const id = await journey.atGateway();
      await service.sql`
        update payments set created_at = now() - interval '10 minutes' where id = ${id}`;
      await journey.choose(id, 'pay');
      await journey.comeBack(id);
    }),
  payments_gateway_call_duration_seconds: (name) => {
    const call = (operation: string, result: string) =>
      ofWorker(`${name}_count`, { gateway: 'sandbox', operation, result });
    return watch.grow(
      [call('open', 'opened'), call('verify', 'paid'), call('verify', 'no_answer')],
      async () => {
        await journey.finish('pay');
        const id = await journey.atGateway();
        await service.sql`delete from sandbox_payments where payment_id = ${id}`;
        expect((await journey.verify(id)).status).toBe(502);
      },
    );
  },
  payments_webhook_attempts_total: (name) => {
    const attempts = (result: string, error_class: string, by: number) =>
      ofWorker(name, { result, error_class }, by);
    return watch.grow(
      [
        attempts('delivered', 'none', 1),
        attempts('retried', 'http_status', 5),
        attempts('exhausted', 'http_status', 1),
      ],
      async () => {
        const id = await journey.finish('pay');
        await until('the delivery', () => service.receiver.of(id)[0]);
        await skipAllTime(service.client, await aFailingDelivery());
      },
    );
  },
  payments_webhook_attempt_lateness_seconds: (name) =>
    watch.grow([ofWorker(`${name}_sum`, { mode: 'test' }, 100)], async () => {
      const id = await aFailingDelivery();
      service.receiver.behave(() => 204);
      await service.sql`
        update deliveries set next_attempt_at = now() - interval '100 seconds'
        where payment_id = ${id}`;
      await skipAllTime(service.client, id);
    }),
  payments_webhooks_exhausted: (name) =>
    watch.grow([ofWorker(name)], async () => {
      const id = await aFailingDelivery();
      await service.sql`update deliveries set test = false where payment_id = ${id}`;
      await skipAllTime(service.client, id);
      await until('an exhausted delivery', async () => {
        const [row] = await service.sql`select status from deliveries where payment_id = ${id}`;
        return row?.['status'] === 'exhausted';
      });
    }),
  payments_webhooks_overdue_seconds: async (name) => {
    const id = await aFailingDelivery();
    await workerHas(name, isZero);
    await service.sql`
      update deliveries set next_attempt_at = now() - interval '250 seconds', test = false
      where payment_id = ${id}`;
    await workerHas(name, (value) => value >= 250);
    service.receiver.behave(() => 204);
    await skipAllTime(service.client, id);
    await workerHas(name, isZero);
  },
  payments_overdue_seconds: async (name) => {
    const id = await live.create();
    const expireIn = (seconds: number) => service.sql`
      update payments set expires_at = now() + make_interval(secs => ${seconds}) where id = ${id}`;
    await expireIn(-900);
    await workerHas(name, (value) => value >= 900);
    await expireIn(900);
    await workerHas(name, isZero);
  },
  payments_inquiry_lag_seconds: async (name) => {
    const { id } = await live.sent();
    // The sweeper inquires 8 minutes after the last inquiry.
    const setInquiry = (ago: string, { expiresIn }: { expiresIn: string }) => service.sql`
      update payments set checkout_at = now() - interval '1 hour',
        inquired_at = now() - ${ago}::interval, expires_at = now() + ${expiresIn}::interval
      where id = ${id}`;
    await setInquiry('7 minutes', { expiresIn: '1 hour' });
    await workerHas(name, (value) => value >= 420);
    // After the deadline the payment's own workflow inquires.
    await setInquiry('7 minutes', { expiresIn: '-1 second' });
    await workerHas(name, (value) => value < 420);
    await setInquiry('0 minutes', { expiresIn: '1 hour' });
  },
  payments_sweeper_last_success_timestamp_seconds: async (name) => {
    const since = Date.now() / 1000;
    await sweepNow(service.client);
    const sweep = await pendingSweep(service.client);
    const { startedAt: _, ...tasks } = sweep ? sweepDetails(sweep) : {};
    expect(Object.keys(tasks).length).toBeGreaterThan(8);
    for (const task of Object.keys(tasks))
      await workerHas(name, (value) => value >= since, { task });
  },
};

/** Checked together, by an absence of Temporal. */
const checkedByAbsence = [
  'payments_outbox_size',
  'payments_outbox_oldest_age_seconds',
  'payments_dependency_up',
  'payments_sweeper_processed_total',
];

/** Checked in test/integration/api/gateways/notifications.test.ts, postgres/metrics and activities/notices.test.ts. */
const checkedElsewhere = [
  'payments_notifications_total',
  'payments_account_days_due',
  'payments_disputes_due',
  'payments_gateways_silent',
  'payments_postgres_connections_ratio',
  'payments_postgres_transaction_age',
  'payments_postgres_archive_failing',
  'payments_backup_age_seconds',
  'payments_purge_age_seconds',
  'payments_notices_overdue_seconds',
  'payments_notices_total',
];

describe('the metric', () => {
  it.each(Object.entries(checks))('the metric %s changes', async (name, check) => {
    await expect(check(name)).resolves.toBeUndefined();
  });

  it('payments_outbox_size and others change when Temporal is unavailable', async () => {
    const temporal = { dependency: 'temporal' };
    const pid = service.worker.pid();
    await watch.isNow('api', 'payments_dependency_up', temporal, (value) => value === 1);
    await workerHas('payments_outbox_size', isZero);
    const task = 'startOutboxWorkflows';
    await watch.grow([ofWorker('payments_sweeper_processed_total', { task })], async () => {
      await service.engine.stop();
      const id = await journey.create();
      await workerHas('payments_outbox_size', (value) => value >= 1);
      await workerHas('payments_outbox_oldest_age_seconds', (value) => value >= 1);
      await watch.isNow('api', 'payments_dependency_up', temporal, isZero);
      await until('the API gives up the start', () =>
        service.api.lines.some((line) => line.includes('"level":40') && line.includes(id)),
      );
      await service.engine.start();
    });
    await workerHas('payments_outbox_size', isZero);
    await watch.isNow('api', 'payments_dependency_up', temporal, (value) => value === 1);
    expect(service.worker.pid()).toBe(pid);
  });

  it('every exported metric is checked here', async () => {
    const names = (
      await Promise.all(Object.values(service.metricsUrls).map((url) => scrape(url)))
    ).flatMap((scraped) => scraped.names);
    const ours = [...new Set(names)].filter((name) => name.startsWith('payments_'));
    const others = [...checkedByAbsence, ...checkedElsewhere];
    expect(ours.sort()).toEqual([...Object.keys(checks), ...others].sort());
  });
});
