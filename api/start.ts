import { readApiConfig } from '../config.ts';
import { version } from '../contract/version.ts';
import { temporalDependency } from '../telemetry/temporal-dependency.ts';
import { createApiMetrics, createDatabaseMetrics, createRegistry } from '../telemetry/metrics.ts';
import { openMetricsPort } from '../telemetry/port.ts';
import { instrumentSql } from '../postgres/metrics/statements.ts';
import { connect } from '../postgres/driver/connection.ts';
import { checkSchemaAtStart } from '../postgres/schema-version.ts';
import { withQueryTimeout } from '../postgres/driver/query-timeout.ts';
import { listen, runProcess } from '../process.ts';
import { createLogger } from '../telemetry/log.ts';
import { createHttpServer } from './http/server.ts';
import { readClock } from '../postgres/clock.ts';
import { watchClock } from '../telemetry/clock.ts';
import { shutdownGracefully } from './http/shutdown.ts';
import { connectClient } from '../temporal/client.ts';
import { createService } from './service.ts';

const postgresConnectionsMax = 8;

await runProcess(async () => {
  const config = readApiConfig();
  const logger = createLogger('api', config.LOG_LEVEL);
  const sql = connect(config.DATABASE_URL, {
    name: 'payments-api',
    max: postgresConnectionsMax,
    keepsPlans: true,
  });
  await checkSchemaAtStart(sql);
  const probe = connect(config.DATABASE_URL, { name: 'payments-api-probe', max: 1 });
  const client = connectClient(config.temporal);
  const registry = createRegistry();
  const databaseMetrics = createDatabaseMetrics(registry, {
    connectionsMax: postgresConnectionsMax,
  });
  const clock = watchClock({ readClock: () => readClock(probe), registry, logger });
  const metricsPort = await openMetricsPort({
    config,
    registry,
    dependencies: {
      postgres: { required: true, check: () => probe`select 1` },
      // Creates and reads work without Temporal.
      temporal: temporalDependency(client, { required: false }),
    },
  });
  const service = createService({
    sql: withQueryTimeout(instrumentSql(sql, databaseMetrics), probe),
    metrics: createApiMetrics(registry),
    client,
    logger,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    addressInLog: config.LOG_CLIENT_ADDRESS,
    payerPagesPerMinute: config.PAYER_PAGES_PER_MINUTE,
    notificationKeyRing: config.NOTIFICATIONS_KEY,
    payersKeyRing: config.PAYERS_KEY,
    securityContact: config.SECURITY_CONTACT,
  });

  const server = createHttpServer(service.handler, { logger });
  const { port } = await listen(server, {
    host: config.API_HOST,
    port: config.API_PORT,
    variable: 'API_PORT',
  });
  logger.info({ version, port, metrics_port: metricsPort.port }, 'Listening');

  return async () => {
    metricsPort.markStopping();
    await shutdownGracefully(server, {
      graceMs: config.SHUTDOWN_GRACE_SECONDS * 1000,
      drain: service.drain,
    });
    await service.stop();
    clock.stop();
    await Promise.all([sql.end({ timeout: 5 }), probe.end({ timeout: 5 })]);
    await metricsPort.close();
    // Last, because a call that waits for its retry throws from a timer after this.
    await client.connection.close();
  };
});
