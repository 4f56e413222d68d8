import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { startService } from '../../support/service/service.ts';
import { skipAllTime, skipTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

const bundles = { careless: '', careful: '' };
const folder = mkdtempSync(join(tmpdir(), 'payments-deploy-'));
const bundling = Promise.all(
  (['careless', 'careful'] as const).map((release) => {
    bundles[release] = join(folder, `${release}.js`);
    const workflows = join(root, `test/fakes/workflows/${release}.ts`);
    return run(process.execPath, [join(root, 'worker/bundle.ts'), bundles[release], workflows]);
  }),
);
const [service] = await Promise.all([forFile(startService()), bundling]);
const journey = (await service.anApplication()).journey;
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

const runReplay = (settings: Record<string, string>, args: string[] = []) => {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = service.env;
  const env = { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, ...settings };
  return run(process.execPath, [join(root, 'worker/replay-open.ts'), ...args], {
    env,
    timeout: 60_000,
  }).then(
    (output) => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
};

/** Replays the open workflows of the running server with the workflows of a bundle. */
const replayOpen = async (bundle: string, ...args: string[]) => {
  const { code, stdout } = await runReplay({ WORKFLOW_BUNDLE: bundle }, args);
  return { code, lines: stdout.trim().split('\n') };
};

const eventsOf = async (id: string) => {
  const { events } = await service.client.workflow.getHandle(id).fetchHistory();
  return events ?? [];
};
const countMarkers = async (id: string) =>
  (await eventsOf(id)).filter((event) => event.markerRecordedEventAttributes).length;

describe('a deploy that changes the payment workflow', () => {
  let waitsForPayer: string;
  let waitsForReceiver: string;
  let newer: Awaited<ReturnType<typeof service.anotherWorker>>;

  it('is refused by the replay of open payments if the change lacks patched()', async () => {
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

    const [refused, ...accepted] = await Promise.all([
      replayOpen(bundles.careless, '--query', open),
      replayOpen(bundles.careful, '--query', open),
      replayOpen(bundles.careful, '--query', open, '--limit', '2'),
    ]);
    expect(refused.code).toBe(1);
    expect(refused.lines.at(-2)).toBe('Replayed 2 of 2 open workflows, the newest first.');
    for (const id of [waitsForPayer, waitsForReceiver])
      expect(refused.lines.join('\n')).toMatch(
        new RegExp(`^${id} does not replay: .*[Nn]ondeterminism`, 'm'),
      );

    for (const replayed of accepted)
      expect(replayed).toEqual({
        code: 0,
        lines: ['Replayed 2 of 2 open workflows, the newest first.', 'All of them replay.'],
      });
  });

  it('is not accepted by a replay of some of the open workflows only, of none, or that fails', async () => {
    const open = `WorkflowId IN ('${waitsForPayer}', '${waitsForReceiver}')`;
    const [some, all, none, ...failed] = await Promise.all([
      replayOpen(bundles.careful, '--query', open, '--limit', '1'),
      replayOpen(inject('workflowBundle'), '--limit', '1'),
      replayOpen(bundles.careful, '--query', "WorkflowId = 'nobody'"),
      replayOpen(bundles.careful, '--limit', 'all'),
      replayOpen(join(folder, 'missing.js')),
    ]);
    expect(some).toEqual({
      code: 2,
      lines: [
        'Replayed 1 of 2 open workflows, the newest first.',
        'These replay, but there are more: raise --limit, or replay older ones with --query.',
      ],
    });
    expect(all.lines[0]).toMatch(/^Replayed 1 of \d+ open/);
    expect([none.code, none.lines.at(-1)]).toEqual([
      2,
      'There was no open workflow to replay: check the namespace.',
    ]);
    expect(failed.map(({ code }) => code)).toEqual([2, 2]);
  });

  it.each([
    ['a namespace that does not exist', { TEMPORAL_NAMESPACE: 'nowhere' }, []],
    ['an invalid query', {}, ['--query', 'what began yesterday']],
  ])('gets one sentence from the replay about %s', async (_, settings, args) => {
    const env = { WORKFLOW_BUNDLE: inject('workflowBundle'), ...settings };
    const { code, stderr } = await runReplay(env, args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Could not list the open workflows \(.+\): correct .+\.\n$/);
  });

  it('continues open payments in the old way and starts new ones in the new way', async () => {
    await service.worker.stop();
    newer = await service.anotherWorker({ WORKFLOW_BUNDLE: bundles.careful });
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
        ['1', '2', '3', '4', '5', '6'], // The receiver accepts the last one, after 14 h 36 min.
      );
      expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
      expect(await countMarkers(id)).toBe(id === startedAfter ? 1 : 0);
    }
    const inNewWay = `WorkflowId = '${startedAfter}' AND TemporalChangeVersion = 'memo-at-start'`;
    await until('the list knows the patch', async () => {
      const { count } = await service.client.workflow.count(inNewWay);
      return count === 1;
    });
    const events = await eventsOf(waitsForPayer);
    const secondsAt = (index: number) => Number(events.at(index)?.eventTime?.seconds);
    const paid = events.findIndex((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    expect(secondsAt(paid) - secondsAt(0)).toBeGreaterThanOrEqual(14 * 3600);
  });

  it('goes back: payments that began in the new way begin again in the old one', async () => {
    service.receiver.behave(() => 204);
    const waits = await journey.atGateway({ expires_in: 86_400 });
    expect(await countMarkers(waits)).toBe(1);
    await newer.stop();
    await service.anotherWorker();
    const old = inject('workflowBundle');
    const its = ['--query', `WorkflowId = '${waits}'`];
    await until('it does not replay', async () => (await replayOpen(old, ...its)).code === 1);
    expect(await replayOpen(old, ...its, '--reset')).toMatchObject({
      code: 0,
      lines: [
        expect.stringContaining(`${waits} does not replay`),
        expect.anything(),
        '1 begin again.',
      ],
    });
    await journey.choose(waits, 'pay');
    await journey.comeBack(waits);
    await until('it is paid', async () => (await journey.get(waits)).json['status'] === 'paid');
    await service.client.workflow.getHandle(waits).result();
    expect(await countMarkers(waits)).toBe(0);
    expect(service.receiver.of(waits)).toHaveLength(1);
    const exchanges = await service.sql`
      select from gateway_exchanges where payment_id = ${waits} and operation = 'open'`;
    expect(exchanges).toHaveLength(1);
  });
});
