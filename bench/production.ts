import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import { startProduction } from '../tools/production/production.ts';
import { startBare } from './bare.ts';
import { type Bench, createApplication } from './environment.ts';
import { compared, type Figure, type Round } from './figure.ts';
import { closedLoop, perSecond } from './load.ts';
import { createPayers } from './payers.ts';
import { startReceiver } from './receiver.ts';

const workers = 2;
const warmUp = { atOnce: 20, count: 300, limitMs: 30_000 };
const whole = { atOnce: 20, count: 200, limitMs: 20_000 };
const rounds = [1, 2, 3, 4];

/** The production shape, with Temporal's server on Postgres, beside the bare workflow on the same. */
export const measureProduction = async (bench: Bench): Promise<Figure[]> => {
  const { config, http, cleanup, say } = bench;
  const programs = await findTemporalServer({ ...config, terminal: createTerminal() });
  say('Production: starting Temporal on Postgres …');
  const folder = join(bench.folder, 'production');
  mkdirSync(folder);
  const production = await startProduction({ folder, programs, processes: workers, giveUp: say });
  cleanup.defer(production.stop);
  const { databaseUrl, keyRing, webhookKeyRing, temporal } = production;
  const bare = await startBare({ folder, databaseUrl, temporal, http, workers });
  cleanup.defer(bare.stop);
  using receiver = await startReceiver();
  const sql = connect(databaseUrl, { name: 'bench', max: 1 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  await createGateways(sql).insert(sandboxAccount);
  const keys = { keyRing, webhookKeyRing };
  const token = await createApplication(sql, { slug: 'production', receiver, ...keys });
  const { pay } = createPayers({ http, receiver, apiBaseUrl: production.url, token });

  say('Production: warming up …');
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  const samples: Round[] = [];
  for (const round of rounds) {
    say(`Production: round ${round} of ${rounds.length} …`);
    samples.push({
      ceiling: perSecond(await bare.runWorkflows(whole)),
      ours: perSecond(await closedLoop(whole, pay)),
    });
  }
  const name = `whole paid payments, ${workers} workers, Temporal on Postgres`;
  return [compared({ name, unit: '/s', ceilingName: 'bare workflow' }, samples, { atLeast: 0.9 })];
};
