import { DefaultLogger, Runtime } from '@temporalio/worker';
import { readWorkerConfig } from '../config.ts';
import { version } from '../contract/version.ts';
import { createBacklogMetrics } from '../postgres/metrics/backlog.ts';
import { readClock } from '../postgres/clock.ts';
import { connect } from '../postgres/driver/connection.ts';
import { checkSchemaAtStart } from '../postgres/schema-version.ts';
import { createUpkeepMetrics } from '../postgres/metrics/upkeep.ts';
import { runProcess, SetupError } from '../process.ts';
import { watchClock } from '../telemetry/clock.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import {
  createDatabaseMetrics,
  createRegistry,
  createWorkerMetrics,
  registerGauges,
} from '../telemetry/metrics.ts';
import { openMetricsPort } from '../telemetry/port.ts';
import { instrumentSql } from '../postgres/metrics/statements.ts';
import { createSdkMetrics } from '../telemetry/sdk-metrics.ts';
import { temporalDependency } from '../telemetry/temporal-dependency.ts';
import { createClient } from '../temporal/client.ts';
import { addSearchAttributes, untilTemporalAnswers } from '../temporal/namespace.ts';
import { connectNative } from '../temporal/native-connection.ts';
import { composeActivities } from './activities.ts';
import { createActivityInterceptors } from './interceptors.ts';
import { keepRunning } from './keep-running.ts';
import { createWorkers } from './workers.ts';
import { leanWorkflowThreads } from './workflow-thread.ts';

/** Connections to Postgres. */
const connectionsMax = 20;

await runProcess(async () => {
  const config = readWorkerConfig();
  const logger = createLogger('worker', config.LOG_LEVEL);
  leanWorkflowThreads(() => {
    logger.fatal('A workflow has kept its thread for 10 s; the process exits');
    process.exit(1);
  });
  const sdkMetrics = await createSdkMetrics();
  Runtime.install({
    // The process handles signals itself: the runtime would stop the workers on its own.
    shutdownSignals: [],
    telemetryOptions: {
      ...sdkMetrics.telemetry,
      // Otherwise the native part of the SDK writes to the console, and not as JSON.
      logging: { forward: {} },
    },
    logger: createSdkLogger(logger),
  });

  const { connectionOptions, namespace } = config.temporal;
  const connection = await connectNative(connectionOptions).catch((error: unknown) => {
    throw new SetupError(
      `Could not connect to Temporal (${String(error)}): start it, or set TEMPORAL_ADDRESS.`,
    );
  });
  const client = createClient(connection, namespace);
  const sendsMail = config.SMTP_HOST !== undefined;
  const kept = keepRunning({ client, sendsMail, logger });
  try {
    await untilTemporalAnswers(async () => {
      await addSearchAttributes(client);
      await kept.start();
    });
  } catch (error) {
    // The SDK's error names only the call that failed.
    const cause =
      error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw new SetupError(
      `Could not set up the namespace ${namespace} (${String(error)}${cause}): correct TEMPORAL_NAMESPACE, or create the namespace (worker/setup-namespace.ts). If the worker may not add search attributes, add Application and OrderId, both of type Keyword.`,
    );
  }

  const registry = createRegistry();
  const metrics = createWorkerMetrics(registry);
  const pool = connect(config.DATABASE_URL, {
    name: 'payments-worker',
    max: connectionsMax,
    keepsPlans: true,
  });
  await checkSchemaAtStart(pool);
  const sql = instrumentSql(pool, createDatabaseMetrics(registry, { connectionsMax }));
  const probe = connect(config.DATABASE_URL, { name: 'payments-worker-probe', max: 1 });
  const clock = watchClock({ readClock: () => readClock(probe), registry, logger });
  // The login of a worker for webhooks alone may not read payments.
  if (config.TASK_QUEUES.includes('payments')) {
    registerGauges(registry, createBacklogMetrics(probe));
    registerGauges(registry, createUpkeepMetrics(probe));
  }
  // Before the metrics port opens, so that the first scrape has every counter.
  const { activities, close: closeActivities } = composeActivities({
    config,
    client,
    sql,
    metrics,
    logger,
  });
  const metricsPort = await openMetricsPort({
    config,
    registry,
    dependencies: {
      postgres: { required: true, check: () => probe`select 1` },
      temporal: temporalDependency(client, { required: true }),
    },
    furtherMetrics: sdkMetrics.read,
  });
  const workers = await createWorkers({
    connection,
    namespace,
    activities,
    activityInterceptors: createActivityInterceptors,
    queues: sendsMail ? [...config.TASK_QUEUES, 'notices'] : config.TASK_QUEUES,
    bundlePath: config.WORKFLOW_BUNDLE,
    graceSeconds: config.SHUTDOWN_GRACE_SECONDS,
  });
  const runs = workers.map((worker) => worker.run());
  // A worker ends by itself only on a failure. The process exits, and its supervisor starts it again.
  for (const run of runs)
    run.catch((error: unknown) => {
      logger.fatal({ err: error }, 'A worker failed; the process exits');
      process.exit(1);
    });
  logger.info({ version, metrics_port: metricsPort.port }, 'Working');

  return async () => {
    metricsPort.markStopping();
    kept.stop();
    for (const worker of workers) worker.shutdown();
    await Promise.allSettled(runs);
    clock.stop();
    await closeActivities();
    await connection.close();
    await Promise.all([pool.end({ timeout: 5 }), probe.end({ timeout: 5 })]);
    await metricsPort.close();
  };
});

/** Writes the SDK's own warnings and errors to our log. */
function createSdkLogger(logger: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    // The worker for deliveries has no workflows on purpose.
    if (message.startsWith('No workflows registered')) return;
    // Our logger serializes an error under `err` only.
    const { error: err, ...facts } = { ...meta };
    logger[level === 'ERROR' ? 'error' : 'warn']({ ...facts, err }, message);
  });
}
