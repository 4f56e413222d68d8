import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import { createProcess } from '../../support/processes.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime, skipTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';
import { bundleVariant } from '../../support/variant.ts';

/** A command between opening and waiting: payments that wait have passed this place without it. */
const imports = ['  patched,', '  patched,\n  upsertMemo,'] as const;
const place = "  if (opened === 'delivered') return;";
const careless = [imports, [place, `${place}\n  upsertMemo({ opened: true });`]] as const;
const careful = [
  imports,
  [place, `${place}\n  if (patched('memo-after-opening')) upsertMemo({ opened: true });`],
] as const;

let service: Service;
let journey: Journey;
let folder: string;
const bundles = { careless: '', careful: '' };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'payments-deploy-'));
  bundles.careless = await bundleVariant(join(folder, 'careless'), careless);
  bundles.careful = await bundleVariant(join(folder, 'careful'), careful);
  service = await startService();
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true });
});

/** As before a deploy: the open workflows of the running server against the code of a bundle. */
const replayOpen = async (bundle: string, ...args: string[]) => {
  const { code, stdout } = await runReplay({ WORKFLOW_BUNDLE: bundle }, args);
  return { code, lines: stdout.trim().split('\n') };
};

const runReplay = (settings: Record<string, string>, args: string[] = []) => {
  const entry = join(import.meta.dirname, '../../../worker/replay-open.ts');
  const env = { TEMPORAL_ADDRESS: service.env.TEMPORAL_ADDRESS, ...settings };
  const run = promisify(execFile)(process.execPath, [entry, ...args], { env, timeout: 60_000 });
  return run.then(
    (said) => ({ code: 0, ...said }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
};

const eventsOf = async (id: string) => {
  const { events } = await service.client.workflow.getHandle(id).fetchHistory();
  return events ?? [];
};
const markersOf = async (id: string) =>
  (await eventsOf(id)).filter((event) => event.markerRecordedEventAttributes).length;

describe('a deploy that changes the workflow of payments', () => {
  let waitsForPayer: string;
  let waitsForReceiver: string;

  it('is refused beforehand by the payments in flight when it lacks patched()', async () => {
    service.receiver.behave(() => 500);
    waitsForReceiver = await journey.finish('pay');
    await until('the first attempt', () => service.receiver.of(waitsForReceiver)[0]);
    waitsForPayer = await journey.atGateway({ expires_in: 86_400 });
    const open = `WorkflowId IN ('${waitsForPayer}', '${waitsForReceiver}')`;
    await until('both are listed', async () => {
      const { count } = await service.client.workflow.count(
        `${open} AND ExecutionStatus = 'Running'`,
      );
      return count === 2;
    });

    const refused = await replayOpen(bundles.careless, '--query', open);
    expect(refused.code).toBe(1);
    expect(refused.lines.at(-2)).toBe('Tried 2 of 2 open workflows, the newest first.');
    for (const id of [waitsForPayer, waitsForReceiver])
      expect(refused.lines.join('\n')).toMatch(
        new RegExp(`^${id} does not replay: .*[Nn]ondeterminism`, 'm'),
      );

    expect(await replayOpen(bundles.careful, '--query', open)).toEqual({
      code: 0,
      lines: ['Tried 2 of 2 open workflows, the newest first.', 'All of them replay.'],
    });
    expect(await replayOpen(bundles.careful, '--query', open, '--limit', '2')).toMatchObject({
      code: 0,
    });
    expect(await replayOpen(bundles.careful, '--query', open, '--limit', '1')).toEqual({
      code: 2,
      lines: [
        'Tried 1 of 2 open workflows, the newest first.',
        'These replay, but there are more: raise --limit, or try older ones by --query.',
      ],
    });
    expect((await replayOpen(inject('workflowBundle'), '--limit', '1')).lines[0]).toMatch(
      /^Tried 1 of \d+ open/,
    );
    const nothing = await replayOpen(bundles.careful, '--query', "WorkflowId = 'nobody'");
    expect([nothing.code, nothing.lines.at(-1)]).toEqual([
      2,
      'None was there to be tried: is it that namespace?',
    ]);
  });

  it('says by its exit code that it could not find out', async () => {
    expect((await replayOpen(bundles.careful, '--limit', 'all')).code).toBe(2);
    expect((await replayOpen(join(folder, 'missing.js'))).code).toBe(2);
  });

  it.each([
    ['a namespace that is not there', { TEMPORAL_NAMESPACE: 'nowhere' }, []],
    ['a query that is none', {}, ['--query', 'what began yesterday']],
  ])('says in one sentence that it was given %s', async (_, settings, args) => {
    const env = { WORKFLOW_BUNDLE: inject('workflowBundle'), ...settings };
    const { code, stderr } = await runReplay(env, args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^The open workflows cannot be listed \(.+\): correct .+\.\n$/);
  });

  it('lets a payment that waits 14 hours go on as it began, and new ones in the new way', async () => {
    await service.worker.stop();
    const newWorker = createProcess('new-worker', 'worker/main.ts', {
      ...service.env,
      ALLOW_LOOPBACK_TARGETS: 'true',
      WORKFLOW_BUNDLE: bundles.careful,
      METRICS_PORT: '0',
    });
    await newWorker.start();
    try {
      await skipTime(service.client, waitsForPayer, '14h');
      service.receiver.behave((nth) => (nth === 6 ? 204 : 500));
      await journey.choose(waitsForPayer, 'pay');
      await journey.comeBack(waitsForPayer);
      const startedAfter = await journey.finish('pay');

      for (const id of [waitsForPayer, waitsForReceiver, startedAfter]) {
        await until('it is paid', async () => (await journey.get(id)).json['status'] === 'paid');
        await until('it waits for its receiver', () => service.receiver.of(id)[0]);
        await skipAllTime(service.client, id);
        await service.client.workflow.getHandle(id).result();
        const posts = service.receiver.of(id);
        expect(posts.map(({ headers }) => headers['x-service-delivery-attempt'])).toEqual(
          ['1', '2', '3', '4', '5', '6'], // Its receiver takes the last one, after 14 h 36 min.
        );
        expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
        expect(await markersOf(id)).toBe(id === startedAfter ? 1 : 0);
      }
      const newWay = `WorkflowId = '${startedAfter}' AND TemporalChangeVersion = 'memo-after-opening'`;
      await until('the list knows', async () => {
        const { count } = await service.client.workflow.count(newWay);
        return count === 1;
      });
      const events = await eventsOf(waitsForPayer);
      const secondsAt = (index: number) => Number(events.at(index)?.eventTime?.seconds);
      const paid = events.findIndex(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes,
      );
      expect(secondsAt(paid) - secondsAt(0)).toBeGreaterThanOrEqual(14 * 3600);
    } finally {
      await newWorker.stop();
    }
  });
});
