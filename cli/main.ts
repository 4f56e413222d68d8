import '../node-version.mjs';
import { userInfo } from 'node:os';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import { readAdminConfig } from '../config.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { exitAfterOutput, SetupError } from '../process.ts';
import { createTemporalAdmin } from '../temporal/admin-client.ts';
import { createResolver } from '../webhooks/resolver.ts';
import { createIo } from './io.ts';
import { runAdmin } from './program.ts';
import { createOperations } from '../operations/operations.ts';

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
  const { temporal, TEMPORAL_UI_URL: uiUrl } = config;
  const targetRule = { allowLoopback: config.ALLOW_LOOPBACK_TARGETS };
  const sql = connect(config.DATABASE_URL, { name: 'payments-admin', max: 2 });
  closing.push(() => sql.end({ timeout: 1 }));
  let connected: Promise<Client> | undefined;
  const temporalClient = () =>
    (connected ??= connectTemporal(temporal).then((client) => {
      closing.push(() => client.connection.close());
      return client;
    }));
  const secretBox = () => {
    if (config.SECRETS_KEY) return createSecretBox(config.SECRETS_KEY);
    throw new SetupError('SECRETS_KEY is missing: it encrypts the secrets.');
  };
  const notificationBox = () => {
    if (config.NOTIFICATIONS_KEY)
      return createSecretBox(config.NOTIFICATIONS_KEY, 'NOTIFICATIONS_KEY');
    throw new SetupError('NOTIFICATIONS_KEY is missing: it encrypts the notification secrets.');
  };
  return createOperations({
    sql,
    actor,
    via: 'cli',
    targetRule,
    resolve: createResolver(),
    consoleUrl: config.CONSOLE_BASE_URL,
    now: () => new Date(),
    retention: {
      attemptBodyDays: config.KEEP_ATTEMPT_BODIES_DAYS,
      paymentDays: config.KEEP_PAYMENTS_DAYS ?? null,
    },
    secretBox,
    notificationBox,
    temporal: async () => createTemporalAdmin(await temporalClient()),
    workflowUrl: (id) =>
      uiUrl ? `${uiUrl}/namespaces/${temporal.namespace}/workflows/${id}` : null,
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
    throw new SetupError('Could not connect to Temporal: start it, or set TEMPORAL_ADDRESS.', {
      cause: error,
    });
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
