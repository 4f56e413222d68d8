import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways/gateways.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import {
  type Production,
  type ProductionOptions,
  startProduction,
} from '../tools/production/production.ts';
import { type Bare, startBare } from './bare.ts';
import { type Bench, createApplication } from './environment.ts';
import { closedLoop } from './load.ts';
import { createPayers, type Payers } from './payers.ts';
import type { Pids } from './processes.ts';
import type { Receiver } from './receiver.ts';

/** Below the time limit of a call, which the whole of the bare workflows is. */
const warmUp = { atOnce: 20, count: 300, limitMs: 20_000 };

/** A production shape with payers of one application, and the bare workflow on the same servers. */
export interface Shape extends AsyncDisposable {
  /** The first process of each part. */
  pids: Pids;
  databaseUrl: string;
  pay: Payers['pay'];
  bare: Bare;
}

export interface ShapeOptions extends Pick<ProductionOptions, 'processes' | 'settings'> {
  name: string;
  receiver: Receiver;
}

/** Starts a warm shape: both have run for a while. */
export const startShape = async (
  { config, http, cleanup, say, folder }: Bench,
  { name, receiver, ...options }: ShapeOptions,
): Promise<Shape> => {
  const programs = await findTemporalServer({ ...config, terminal: createTerminal() });
  const own = join(folder, name.replaceAll(/\W/g, '-'));
  mkdirSync(own);
  const running = new AsyncDisposableStack();
  cleanup.defer(() => running.disposeAsync());
  say(`${name}: starting Temporal on Postgres …`);
  const production = await startProduction({ ...options, folder: own, programs, giveUp: say });
  running.defer(production.stop);
  const { databaseUrl, keyRing, webhookKeyRing, temporal } = production;
  const workers = options.processes ?? 1;
  const bare = await startBare({ folder: own, databaseUrl, temporal, http, workers });
  running.defer(bare.stop);
  const sql = connect(databaseUrl, { name: 'bench', max: 1 });
  running.defer(() => sql.end({ timeout: 1 }));
  await createGateways(sql).insert(sandboxAccount);
  const keys = { keyRing, webhookKeyRing };
  const token = await createApplication(sql, { slug: 'shop', receiver, ...keys });
  const { pay } = createPayers({ http, receiver, apiBaseUrl: production.url, token });
  say(`${name}: warming up …`);
  await bare.runWorkflows(warmUp);
  await closedLoop(warmUp, pay);
  return {
    bare,
    databaseUrl,
    pay,
    pids: pidsOf(production),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

const pidsOf = ({ members }: Production): Pids => {
  const pidOf = (name: string) =>
    members.find((each) => each.name === name)?.lives.at(-1)?.pid ?? 0;
  return {
    api: pidOf('api-1'),
    worker: pidOf('worker-1'),
    temporal: pidOf('temporal'),
    postgres: pidOf('postgres'),
  };
};
