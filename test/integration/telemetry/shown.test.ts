import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { createSweeperActivities } from '../../../activities/sweeper.ts';
import { responsesOf } from '../../../api/http/responses.ts';
import type { Route } from '../../../api/http/route.ts';
import { routes } from '../../../api/routes.ts';
import { alerts } from '../../../contract/alerts.ts';
import { exchangeResults } from '../../../contract/gateway-exchange.ts';
import { failureReasons } from '../../../contract/failure-codes.ts';
import { isTerminal, statuses } from '../../../contract/status.ts';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import type { Labels, Watch } from '../../support/metrics.ts';
import { createWatch, scrape } from '../../support/metrics.ts';
import { readExpressions } from '../../support/promql.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: Service;
let journey: Journey;
let watch: Watch;
beforeAll(async () => {
  service = await startService();
  watch = createWatch(service.metricsUrls);
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(() => service?.stop());
beforeEach(() => service.receiver.behave(() => 204));

/** Some exist from when they first count: a call that failed is one. */
const failACall = async () => {
  await service.engine.stop();
  await until(
    'a call has failed',
    async () => (await watch.valueOf('worker', 'temporal_request_failure_total')) > 0,
  );
  await service.engine.start();
};

/** No worker can go on with a workflow that its code does not know. */
const failATask = async () => {
  const unknown = { taskQueue: 'payments', workflowId: 'unknown', args: [] };
  const handle = await service.client.workflow.start('unknown', unknown);
  await until(
    'a task has failed',
    async () =>
      (await watch.valueOf('worker', 'temporal_workflow_task_execution_failed_total')) > 0,
  );
  await handle.terminate();
};

describe('metrics of others that the dashboard shows', () => {
  it('tell of an event loop that stood still', async () => {
    for (const part of ['api', 'worker'] as const) {
      // Each scrape begins anew.
      await until(
        `the ${part} is at rest`,
        async () => (await watch.valueOf(part, 'nodejs_eventloop_lag_max_seconds')) < 0.3,
      );
      // A scrape that comes before the loop has looked at its clock takes the stop away unseen.
      await until(`the stop of the ${part} is seen`, async () => {
        service[part].signal('SIGSTOP');
        await sleep(400);
        service[part].signal('SIGCONT');
        await sleep(100);
        return ((await watch.valueOf(part, 'nodejs_eventloop_lag_max_seconds')) ?? 0) > 0.3;
      });
      expect(await watch.valueOf(part, 'process_resident_memory_bytes')).toBeGreaterThan(40e6);
    }
  });

  it('tell of the work of the process and of the SDK', async () => {
    const sdk = (name: string, labels: Labels = {}) => ({ part: 'worker' as const, name, labels });
    const moved = watch.grow(
      [
        { part: 'api', name: 'process_cpu_seconds_total', by: 0.001 },
        { part: 'worker', name: 'process_cpu_seconds_total', by: 0.001 },
        sdk('temporal_workflow_task_schedule_to_start_latency_seconds_count'),
        sdk('temporal_activity_schedule_to_start_latency_seconds_count', {
          task_queue: 'webhooks',
        }),
      ],
      () => journey.finish('pay'),
    );
    await expect(moved).resolves.toBeUndefined();
  });

  it('tell how many slots are free', async () => {
    const slots = { task_queue: 'webhooks', worker_type: 'ActivityWorker' };
    const name = 'temporal_worker_task_slots_available';
    const answer = Promise.withResolvers<number>();
    service.receiver.behave(() => answer.promise);
    await watch.isNow('worker', name, slots, (value) => value === 100);
    await journey.finish('pay');
    await watch.isNow('worker', name, slots, (value) => value === 99);
    answer.resolve(204);
    const all = watch.isNow('worker', name, slots, (value) => value === 100);
    await expect(all).resolves.toBe(true);
  });
});

it('no label holds an id, an address or what belongs to one payment', async () => {
  const id = await journey.finish('pay');
  for (const url of Object.values(service.metricsUrls)) {
    const { text } = await scrape(url);
    expect(text).not.toContain(id);
    expect(text).not.toMatch(/PAY_|order-1|req_|svc_|whsec_|card_pan|@/);
  }
});

/** As runbook.md tells operators to name them. */
const jobs = ['payments-api', 'payments-worker'];

const tasks = Object.keys({
  startOutboxWorkflows: true,
  listGatewaysInUse: true,
  inquireAtGateway: true,
  healPayments: true,
  deleteExpiredIdempotencyKeys: true,
} satisfies Record<keyof ReturnType<typeof createSweeperActivities>, true>);

/** A label's values where code decides them; of the others those count that the service shows. */
const decided: Record<string, Record<string, readonly string[]>> = {
  payments_alerts: { alert: alerts },
  payments_outcomes: {
    status: statuses.filter(isTerminal),
    failure_code: ['none', ...Object.keys(failureReasons)],
  },
  payments_gateway_call_duration_seconds: { result: exchangeResults },
  payments_http_requests: {
    status: Object.values<Route>(routes).flatMap((route) =>
      responsesOf(route).map(({ status }) => String(status)),
    ),
  },
  payments_http_request_duration_seconds: {
    route: Object.values<Route>(routes).map(({ path }) => path),
  },
  payments_sweeper_last_success_timestamp_seconds: { task: tasks },
  payments_swept: { task: tasks },
};

describe('the dashboard and the alerts', () => {
  const files = ['dashboard.json', 'alerts.yml'].map((file) => ({
    file,
    ...readExpressions(`docs/operating/${file}`),
  }));
  const recorded = files.flatMap((each) => each.recorded);
  let scraped: Awaited<ReturnType<typeof scrape>>[];
  beforeAll(async () => {
    await journey.finish('pay');
    await failACall();
    await failATask();
    scraped = await Promise.all(Object.values(service.metricsUrls).map((url) => scrape(url)));
  });

  it.each(files)('show no metric that is not there: $file', ({ names }) => {
    const there = new Set([...recorded, ...scraped.flatMap((each) => each.names)]);
    const used = names.map((name) =>
      there.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
    );
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !there.has(name))).toEqual([]);
  });

  it.each(files)('compare labels with no value that they cannot have: $file', ({ matchers }) => {
    const shown = (metric: string, label: string) =>
      scraped.flatMap(({ samples }) =>
        samples.flatMap(({ name, labels }) => (name === metric ? (labels[label] ?? []) : [])),
      );
    const valuesOf = (metric: string, label: string) => {
      const of = metric.replace(/^\w+:(\w+):\w+$/, '$1').replace(/_(total|bucket|sum|count)$/, '');
      return label === 'job' ? jobs : (decided[of]?.[label] ?? shown(metric, label));
    };
    const wrong = matchers.flatMap(({ metric, label, value, means }) => {
      const values = valuesOf(metric, label);
      const isKnown = means.every((is) => values.some(is));
      return isKnown ? [] : [`${metric} has no ${label} ${value}`];
    });
    expect(matchers.length).toBeGreaterThan(3);
    expect(wrong).toEqual([]);
  });
});
