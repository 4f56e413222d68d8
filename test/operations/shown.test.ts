import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProjectFile } from '../support/files.ts';
import type { Journey } from '../support/journey.ts';
import { createJourney } from '../support/journey.ts';
import type { Labels, Watch } from '../support/metrics.ts';
import { createWatch, scrape } from '../support/metrics.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: Service;
let journey: Journey;
let watch: Watch;
beforeAll(async () => {
  service = await startService();
  watch = createWatch(service.operations);
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
  for (const url of Object.values(service.operations)) {
    const { text } = await scrape(url);
    expect(text).not.toContain(id);
    expect(text).not.toMatch(/PAY_|order-1|req_|svc_|whsec_|card_pan|@/);
  }
});

it('the dashboard and the alerts show nothing that is not there', async () => {
  await journey.finish('pay');
  await failACall();
  const names = new Set(
    (await Promise.all(Object.values(service.operations).map((url) => scrape(url)))).flatMap(
      (scraped) => scraped.names,
    ),
  );
  for (const file of ['dashboard.json', 'alerts.yml']) {
    const text = readProjectFile(`docs/operating/${file}`);
    const used = [...text.matchAll(/\b(?:payments|temporal|nodejs|process)_\w+/g)].map(([name]) =>
      names.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
    );
    expect(used.length, file).toBeGreaterThan(20);
    expect(
      used.filter((name) => !names.has(name)),
      file,
    ).toEqual([]);
  }
});
