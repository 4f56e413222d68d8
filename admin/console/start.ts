import { createServer } from 'node:http';
import { createOperations } from '../operations/operations.ts';
import { depsOf } from '../operations/settings.ts';
import { readConsoleConfig } from '../../config.ts';
import { version } from '../../contract/version.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { checkSchemaAtStart } from '../../postgres/schema-version.ts';
import { listen, runProcess } from '../../process.ts';
import { createLogger, type Logger } from '../../telemetry/log.ts';
import { createTemporalAdmin } from '../../temporal/admin-client.ts';
import { connectClient } from '../../temporal/client.ts';
import { readLastHeartbeat } from '../../temporal/sweeper.ts';
import { createConsole } from './app.ts';
import { createIdentityProvider } from './identity-provider.ts';
import { createReaders } from './queries.ts';

const postgresConnectionsMax = 4;

const identityProviderOf = (
  {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    CONSOLE_BASE_URL: baseUrl,
  }: ReturnType<typeof readConsoleConfig>,
  logger: Logger,
) =>
  issuer && clientId && clientSecret
    ? createIdentityProvider({ issuer, clientId, clientSecret, baseUrl, logger })
    : undefined;

await runProcess(async () => {
  const config = readConsoleConfig();
  const { temporal, CONSOLE_BASE_URL: baseUrl } = config;
  const logger = createLogger('console', config.LOG_LEVEL);
  const sql = connect(config.DATABASE_URL, {
    name: 'payments-console',
    max: postgresConnectionsMax,
  });
  await checkSchemaAtStart(sql);
  const client = connectClient(temporal);
  const shared = depsOf(config);
  const console = createConsole({
    baseUrl,
    logger,
    ...createReaders(sql),
    identityProvider: identityProviderOf(config, logger),
    readLastHeartbeat: () => readLastHeartbeat(client),
    skipsTime: config.SKIP_TIME,
    waitingAfterMs: 700,
    now: shared.now,
    operationsOf: (actor) =>
      createOperations({
        ...shared,
        sql,
        actor,
        via: 'console',
        temporal: async () => createTemporalAdmin(client),
        retention: { attemptBodyDays: 36_500, paymentDays: null },
      }),
  });
  const handle = console.callback();
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 20_000, maxHeaderSize: 16 * 1024 },
    (request, response) => void handle(request, response),
  );
  server.maxConnections = 200;
  const { port } = await listen(server, {
    host: config.CONSOLE_HOST,
    port: config.CONSOLE_PORT,
    variable: 'CONSOLE_PORT',
  });
  logger.info({ version, port }, 'Listening');

  return async () => {
    const cut = setTimeout(
      () => server.closeAllConnections(),
      config.SHUTDOWN_GRACE_SECONDS * 1000,
    );
    await new Promise((closed) => server.close(closed));
    clearTimeout(cut);
    await sql.end({ timeout: 5 });
    await client.connection.close();
  };
});
