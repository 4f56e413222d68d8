import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import { startProduction } from '../tools/production/stack.ts';
import { createSetup } from './application.ts';
import { startBare } from './bare.ts';
import { compared, type Round } from './figure.ts';
import type { Group } from './group.ts';
import { closedLoop, perSecondOf } from './load.ts';
import { createPayments } from './payments.ts';
import { startReceiver } from './receiver.ts';

const slug = 'production';
const workers = 2;
const warmUp = { atOnce: 20, count: 300, limitMs: 30_000 };
const whole = { atOnce: 20, count: 200, limitMs: 20_000 };
const rounds = [1, 2, 3, 4];

/** The production shape, with Temporal's server on Postgres, beside the bare workflow on the same. */
export const measureProduction: Group = async (bench) => {
  const { config, http, signal, cleanup, say } = bench;
  const programs = await findTemporalServer({ ...config, terminal: createTerminal(), signal });
  say('Production: starting Temporal on Postgres …');
  const folder = join(bench.folder, slug);
  mkdirSync(folder);
  const root = resolve(import.meta.dirname, '..');
  const options = { folder, programs, root, processes: workers, giveUp: say };
  const production = await startProduction(options);
  cleanup.defer(production.stop);
  const { databaseUrl, keyRing, temporal } = production;
  const bare = await startBare({ folder, databaseUrl, temporal, http, signal, workers });
  cleanup.defer(bare.stop);
  const receiver = await startReceiver();
  cleanup.defer(receiver.stop);
  const setup = createSetup({ databaseUrl, keyRing }, cleanup);
  await setup.sandbox();
  const token = await setup.application({ slug, webhookUrl: receiver.url });
  const { pay } = createPayments({ http, receiver, apiBaseUrl: production.url, token });

  say('Production: warming up …');
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  const samples: Round[] = [];
  for (const round of rounds) {
    say(`Production: round ${round} of ${rounds.length} …`);
    samples.push({
      ceiling: perSecondOf(await bare.runWorkflows(whole)),
      ours: perSecondOf(await closedLoop(whole, pay)),
    });
  }
  const name = `whole paid payments, ${workers} workers, Temporal on Postgres`;
  return [compared({ name, unit: '/s', ceilingName: 'bare workflow' }, samples, { atLeast: 0.9 })];
};
