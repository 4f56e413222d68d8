import { randomUUID } from 'node:crypto';
import { connectClient } from '../temporal/client.ts';
import { bareDelivery, bareQueue } from './bare/queues.ts';
import type { BareDelivery } from './bare/workflow.ts';
import { calm, dueAtOnce, firsts, hanging } from './fairness.ts';
import { absolute, type Figure } from './figure.ts';
import type { Group } from './group.ts';
import { quantile, steadily } from './load.ts';
import { startReceiver } from './receiver.ts';

/**
 * What the engine's own fairness keys do alone, without the cap on an application's share: the
 * disturbances of the group `fairness`, with deliveries that only post.
 */
export const measureFairnessKeys: Group = async ({ bare, facts, cleanup, say }) => {
  const [receiver, hangs] = [await startReceiver(), await startReceiver(() => {})];
  for (const { stop } of [receiver, hangs]) cleanup.defer(stop);
  const client = connectClient({
    connectionOptions: { address: facts.temporal_address },
    namespace: facts.temporal_namespace,
  });
  cleanup.defer(() => client.connection.close());
  const goOn = () => process.kill(bare.pids.worker, 'SIGCONT');
  cleanup.defer(() => void goOn());

  const post = (key: string | undefined, url: string, id: string) =>
    client.workflow.start<BareDelivery>(bareDelivery, {
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
    process.kill(bare.pids.worker, 'SIGSTOP');
    for (let count = 0; count < dueAtOnce; count += 1)
      await post(keyOf('retried'), receiver.url, randomUUID());
    goOn();
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
  absolute({ name, unit: 'ms' }, quantile(latencies, 0.95));
