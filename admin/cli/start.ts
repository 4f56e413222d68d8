import { userInfo } from 'node:os';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import { readAdminConfig } from '../../config.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { checkSchema } from '../../postgres/schema-version.ts';
import { exitAfterOutput, SetupError } from '../../process.ts';
import { createTemporalAdmin } from '../../temporal/admin-client.ts';
import { createIo } from './io.ts';
import { runAdmin } from './program.ts';
import { createOperations } from '../operations/operations.ts';
import { depsOf } from '../operations/settings.ts';

const closing: (() => Promise<unknown>)[] = [];

/** A container may run as a user id that has no name. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};

/** Connects at the first use: a list needs the database only. */
const open = async (actor = userName()) => {
  const config = readAdminConfig();
  const sql = connect(config.DATABASE_URL, { name: 'payments-admin', max: 2 });
  closing.push(() => sql.end({ timeout: 1 }));
  await checkSchema(sql);
  let connected: Promise<Client> | undefined;
  const temporalClient = () =>
    (connected ??= connectTemporal(config.temporal).then((client) => {
      closing.push(() => client.connection.close());
      return client;
    }));
  return createOperations({
    ...depsOf(config),
    sql,
    actor,
    via: 'cli',
    retention: {
      attemptBodyDays: config.KEEP_ATTEMPT_BODIES_DAYS,
      paymentDays: config.KEEP_PAYMENTS_DAYS ?? null,
    },
    temporal: async () => createTemporalAdmin(await temporalClient()),
  });
};

const connectTemporal = async ({
  connectionOptions,
  namespace,
}: ReturnType<typeof readAdminConfig>['temporal']) => {
  try {
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
    return new Client({ connection, namespace });
  } catch (error) {
    throw new SetupError(
      'Could not connect to Temporal within 5 s: start it, or set TEMPORAL_ADDRESS.',
      {
        cause: error,
      },
    );
  }
};

/** `once`: the second signal finds no listener and ends the process. */
const interruption = (): AbortSignal => {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
};

process.exitCode = await runAdmin(
  { io: createIo(process), open, interruption },
  process.argv.slice(2),
);
for (const close of closing) await close();
exitAfterOutput();
