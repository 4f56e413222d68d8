import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient } from '../api/temporal.ts';
import { freePort } from '../stack/ports.ts';
import { findTemporal } from '../stack/temporal/program.ts';
import { startTemporal } from '../stack/temporal/server.ts';
import { createTerminal } from '../stack/terminal.ts';
import { startBare } from './bare.ts';
import { bareDelivery, bareQueue } from './bare/queues.ts';
import type { BareDelivery } from './bare/workflow.ts';
import { calm, dueAtOnce, firsts, hanging } from './fairness.ts';
import { absolute, type Figure } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { quantile, steadily } from './load.ts';
import { startReceiver } from './receiver.ts';

const p95 = (values: readonly number[]) => quantile(values, 0.95);

/**
 * What the engine's own fairness keys would do in place of the cap on an application's share: the
 * disturbances of the group `fairness`, on a server that has them on and with deliveries that only post.
 */
export const measureFairnessKeys: Group = async (bench) => {
  const { say, cleanup } = bench;
  say('Fairness keys: starting a Temporal that has them …');
  const engine = await startEngine(bench);
  const [receiver, hangs] = [await startReceiver(), await startReceiver(() => {})];
  for (const { stop } of [receiver, hangs]) cleanup.defer(stop);

  const post = (key: string | undefined, url: string, id: string) =>
    engine.client.workflow.start<BareDelivery>(bareDelivery, {
      workflowId: id,
      taskQueue: bareQueue,
      args: [{ url, id, createdAt: new Date().toISOString() }],
      ...(key !== undefined && { priority: { fairnessKey: key } }),
    });
  const figuresOf = async (label: string, keyOf: (of: string) => string | undefined) => {
    const arrive = async () => {
      const id = randomUUID();
      const arrival = receiver.arrival(id);
      await post(keyOf('others'), receiver.url, id);
      return (await arrival).latencyMs;
    };
    say(`Fairness keys: beside a receiver that hangs, ${label} …`);
    const [besideHanging] = await Promise.all([
      steadily(calm, arrive),
      steadily(hanging, async () => {
        await post(keyOf('hanging'), hangs.url, randomUUID());
      }),
    ]);
    say(`Fairness keys: ${dueAtOnce} are due at once, ${label} …`);
    engine.pause();
    for (let count = 0; count < dueAtOnce; count += 1)
      await post(keyOf('retried'), receiver.url, randomUUID());
    engine.goOn();
    const besideMany = await steadily(firsts, arrive);
    return [
      row(`the bare engine beside a receiver that hangs, ${label}, p95`, besideHanging),
      row(`the bare engine, ${dueAtOnce} due at once, ${label}, p95`, besideMany),
    ];
  };
  return [
    ...(await figuresOf('no keys', () => undefined)),
    ...(await figuresOf('fairness keys', (of) => of)),
  ];
};

const row = (name: string, latencies: readonly number[]): Figure =>
  absolute({ name, unit: 'ms' }, p95(latencies));

/** A Temporal of its own: fairness changes how all its queues are kept. */
const startEngine = async ({ config, facts, http, folder, signal, cleanup }: Bench) => {
  const own = join(folder, 'fairness-keys');
  mkdirSync(own);
  const { path: program } = await findTemporal({ ...config, terminal: createTerminal(), signal });
  const temporal = await startTemporal({
    ...{ program, dbFile: join(own, 'temporal.db'), port: await freePort(), signal },
    extraArgs: ['--dynamic-config-value', 'matching.enableFairness=true'],
  });
  cleanup.defer(temporal.stop);
  const { address, namespace } = temporal;
  const databaseUrl = facts.database_url;
  const bare = await startBare({ folder: own, databaseUrl, temporal, http, signal });
  cleanup.defer(bare.stop);
  const goOn = () => void process.kill(bare.pids.worker, 'SIGCONT');
  cleanup.defer(goOn);
  const client = connectClient({ connectionOptions: { address }, namespace });
  cleanup.defer(() => client.connection.close());
  return { client, pause: () => void process.kill(bare.pids.worker, 'SIGSTOP'), goOn };
};
