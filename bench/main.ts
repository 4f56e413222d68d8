import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { measureCalm } from './calm.ts';
import { measureDeadReceiver } from './dead-receiver.ts';
import { startEnvironment } from './environment.ts';
import { measureFairness } from './fairness.ts';
import { measureFallback } from './fallback.ts';
import { type Figure, formatTable } from './figure.ts';
import { measureGrowth } from './growth.ts';
import { measureNotices } from './notices.ts';
import { measureOrders } from './orders.ts';
import { measureProduction } from './production.ts';
import { measureReplays } from './replays.ts';
import { measureService } from './service.ts';
import { measureSettings } from './settings.ts';
import { measureSlowGateway } from './slow-gateway.ts';

/** Rows of the table that are measured together, in this order. */
const groups = {
  service: measureService,
  'slow-gateway': measureSlowGateway,
  fairness: measureFairness,
  replays: measureReplays,
  orders: measureOrders,
  fallback: measureFallback,
  notices: measureNotices,
  'dead-receiver': measureDeadReceiver,
  production: measureProduction,
  calm: measureCalm,
  growth: measureGrowth,
  settings: measureSettings,
};
type GroupName = keyof typeof groups;
const names = Object.keys(groups) as GroupName[];

/** @throws SetupError for an unknown name */
const chooseGroups = (args: readonly string[]): readonly GroupName[] => {
  if (args.length === 0) return ['service'];
  // These two fill tables, or start many stacks, for a quarter of an hour or more.
  if (args.includes('full'))
    return names.filter((name) => name !== 'settings' && name !== 'growth');
  const chosen = names.filter((name) => args.includes(name));
  if (chosen.length === args.length) return chosen;
  throw new SetupError(`Usage: npm run bench [-- full | ${names.join(' ')}]`);
};

const cleanup = new AsyncDisposableStack();
let isInterrupted = false;

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    isInterrupted = true;
    void leave(1);
  });

try {
  const startedAt = performance.now();
  const chosen = chooseGroups(process.argv.slice(2));
  const bench = await startEnvironment({ config: readStackConfig(), cleanup, say: console.log });
  const figures: Figure[] = [];
  for (const name of chosen) figures.push(...(await groups[name](bench)));
  const tookSeconds = Math.round((performance.now() - startedAt) / 1000);
  const report = { at: new Date().toISOString(), tookSeconds, figures };
  writeFileSync(
    join(import.meta.dirname, 'latest.json'),
    `${JSON.stringify(report, undefined, 2)}\n`,
  );
  console.log(`\n${formatTable(figures)}\n\nTook ${tookSeconds} s; also in bench/latest.json.`);
  await leave(figures.some(({ holds }) => holds === false) ? 1 : 0);
} catch (error) {
  if (!isInterrupted) {
    console.error(error instanceof SetupError ? error.message : error);
    await leave(1);
  }
}
