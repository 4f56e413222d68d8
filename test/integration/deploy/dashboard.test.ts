import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { SweeperTasks } from '../../../activities/sweeper-tasks/index.ts';
import { declaredResponses } from '../../../api/http/declared-responses.ts';
import type { Route } from '../../../api/http/route.ts';
import { routes } from '../../../api/routes.ts';
import { alerts } from '../../../contract/alerts.ts';
import { failureReasons } from '../../../contract/failure-codes.ts';
import { exchangeResults } from '../../../contract/gateway-exchange.ts';
import { isTerminal, statuses } from '../../../contract/status.ts';
import { createWatch, scrape, type Labels } from '../../support/service/metrics.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { readExpressions } from '../../support/checks/promql.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const watch = createWatch(service.metricsUrls);
const journey = (await service.anApplication()).journey;
beforeEach(() => service.receiver.behave(() => 204));

/** The metric of failed calls exists only after the first failed call: the worker ends an attempt of a workflow that is over. */
const failACall = async () => {
  const response = Promise.withResolvers<number>();
  service.receiver.behave(() => response.promise);
  const id = await journey.finish('pay');
  await until('the POST', () => service.receiver.of(id)[0]);
  await service.client.workflow.getHandle(id).terminate('a test');
  response.resolve(204);
  await until(
    'a failed call',
    async () => (await watch.valueOf('worker', 'temporal_request_failure_total')) > 0,
  );
};

/** Makes workflow tasks fail: the workers do not have this workflow type. */
const failATask = async () => {
  const unknown = { taskQueue: 'payments', workflowId: 'unknown', args: [] };
  const handle = await service.client.workflow.start('unknown', unknown);
  await until(
    'a failed task',
    async () =>
      (await watch.valueOf('worker', 'temporal_workflow_task_execution_failed_total')) > 0,
  );
  await handle.terminate();
};

describe('the metrics of Node and of the Temporal SDK', () => {
  it('show an event loop that was blocked', async () => {
    const blocked = (['api', 'worker'] as const).map(async (part) => {
      // Each scrape resets the maximum.
      await until(
        `the ${part} is idle`,
        async () => (await watch.valueOf(part, 'nodejs_eventloop_lag_max_seconds')) < 1,
      );
      // A scrape right after the stop may reset the maximum before the loop has measured it.
      await until(`the lag of the ${part}`, async () => {
        service[part].signal('SIGSTOP');
        await sleep(1_500);
        service[part].signal('SIGCONT');
        await sleep(100);
        return ((await watch.valueOf(part, 'nodejs_eventloop_lag_max_seconds')) ?? 0) > 1;
      });
      expect(await watch.valueOf(part, 'process_resident_memory_bytes')).toBeGreaterThan(40e6);
    });
    await Promise.all(blocked);
  });

  it('show CPU time and task latencies', async () => {
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

  it('show the free slots', async () => {
    const slots = { task_queue: 'webhooks', worker_type: 'ActivityWorker' };
    const name = 'temporal_worker_task_slots_available';
    const response = Promise.withResolvers<number>();
    service.receiver.behave(() => response.promise);
    await watch.isNow('worker', name, slots, (value) => value === 100);
    await journey.finish('pay');
    await watch.isNow('worker', name, slots, (value) => value === 99);
    response.resolve(204);
    const all = watch.isNow('worker', name, slots, (value) => value === 100);
    await expect(all).resolves.toBe(true);
  });
});

it('no label holds an id, an address or data of one payment', async () => {
  const id = await journey.finish('pay');
  for (const url of Object.values(service.metricsUrls)) {
    const { text } = await scrape(url);
    expect(text).not.toContain(id);
    expect(text).not.toMatch(/PAY_|order-1|req_|svc_|whsec_|card_pan|@/);
  }
});

/** The jobs of deploy/prometheus.yml. */
const { scrape_configs: jobs } = parse(readProjectFile('deploy/prometheus.yml')) as {
  scrape_configs: { job_name: string }[];
};

const tasks = Object.keys({
  startOutboxWorkflows: true,
  inquireAtGateways: true,
  healPayments: true,
  wakePostponedDeliveries: true,
  deleteExpiredIdempotencyKeys: true,
  eraseOldPayers: true,
  lookAtDisputes: true,
  lookAtPayouts: true,
  endLinks: true,
  watchReceivers: true,
  renewRefundTokens: true,
} satisfies Record<keyof SweeperTasks, true>);

/** Labels whose values are fixed in the code. For other labels, the scraped values count. */
const fixedValues: Record<string, Record<string, readonly string[]>> = {
  payments_alerts: { alert: alerts },
  // Temporal's server has it, and its metrics are not scraped here.
  persistence_error_with_type: {
    error_type: [
      'serviceerror_Unavailable',
      'persistence_TimeoutError',
      'context_DeadlineExceeded',
    ],
  },
  payments_outcomes: {
    status: statuses.filter(isTerminal),
    failure_code: ['none', ...Object.keys(failureReasons)],
  },
  payments_gateway_call_duration_seconds: { result: exchangeResults },
  payments_http_requests: {
    status: Object.values<Route>(routes).flatMap((route) =>
      declaredResponses(route).map(({ status }) => String(status)),
    ),
  },
  payments_http_request_duration_seconds: {
    route: Object.values<Route>(routes).map(({ path }) => path),
  },
  payments_sweeper_last_success_timestamp_seconds: { task: tasks },
  payments_sweeper_processed: { task: tasks },
  payments_webhook_attempt_lateness_seconds: { mode: ['live', 'test'] },
};

describe('the dashboard and the alerts', () => {
  const files = ['dashboard.json', 'alerts.yml'].map((file) => ({
    file,
    ...readExpressions(`deploy/${file}`),
  }));
  const recorded = files.flatMap((each) => each.recorded);
  let scraped: Awaited<ReturnType<typeof scrape>>[];
  beforeAll(async () => {
    await journey.finish('pay');
    await failACall();
    await failATask();
    scraped = await Promise.all(Object.values(service.metricsUrls).map((url) => scrape(url)));
  });

  it.each(files)('use existing metrics only: $file', ({ names }) => {
    const existing = new Set([...recorded, ...scraped.flatMap((each) => each.names)]);
    const used = names.map((name) =>
      existing.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
    );
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !existing.has(name))).toEqual([]);
  });

  it.each(files)('match existing label values only: $file', ({ matchers }) => {
    const scrapedValues = (metric: string, label: string) =>
      scraped.flatMap(({ samples }) =>
        samples.flatMap(({ name, labels }) => (name === metric ? (labels[label] ?? []) : [])),
      );
    const valuesOf = (metric: string, label: string) => {
      const of = metric.replace(/^\w+:(\w+):\w+$/, '$1').replace(/_(total|bucket|sum|count)$/, '');
      return label === 'job'
        ? jobs.map(({ job_name }) => job_name)
        : (fixedValues[of]?.[label] ?? scrapedValues(metric, label));
    };
    const wrong = matchers.flatMap(({ metric, label, value, alternatives }) => {
      const values = valuesOf(metric, label);
      const isKnown = alternatives.every((matches) => values.some(matches));
      return isKnown ? [] : [`${metric} has no ${label} ${value}`];
    });
    expect(matchers.length).toBeGreaterThan(3);
    expect(wrong).toEqual([]);
  });
});
