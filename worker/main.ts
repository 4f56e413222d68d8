import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { readWorkerConfig } from '../config.ts';
import { temporalDependency } from '../telemetry/temporal-dependency.ts';
import {
  createDatabaseMetrics,
  createRegistry,
  createWorkerMetrics,
  registerBacklogMetrics,
} from '../telemetry/metrics.ts';
import { openMetricsPort } from '../telemetry/port.ts';
import { instrumentSql } from '../telemetry/query-metrics.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createBacklogMetrics } from '../postgres/backlog-metrics.ts';
import { createLogger, currentTrace, runProcess, SetupError } from '../process.ts';
import { tracedStarts } from '../temporal/messages.ts';
import { composeActivities } from './activities.ts';
import { connectNative } from '../temporal/native-connection.ts';
import { createSdkMetrics } from '../telemetry/sdk-metrics.ts';
import { createActivityInterceptors } from './interceptors.ts';
import { setupNamespace } from '../temporal/namespace.ts';
import { createWorkers } from './workers.ts';

/** To Postgres. */
const connectionsMax = 20;

await runProcess(async () => {
  const config = readWorkerConfig();
  const logger = createLogger('worker', config.LOG_LEVEL);
  const engineMetrics = await createSdkMetrics();
  // The process owns its signals: the runtime would stop workers behind its back.
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      ...engineMetrics.telemetry,
      // What its native part says would go to the console past the logger, and not as JSON.
      logging: { forward: {} },
    },
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // The worker of the deliveries has none, as it is meant to be.
      if (message.startsWith('No workflows registered')) return;
      // It says why by another name than ours, under which an error would be written as {}.
      const { error: err, ...facts } = { ...meta };
      logger[level === 'ERROR' ? 'error' : 'warn']({ ...facts, err }, message);
    }),
  });
  const { connectionOptions, namespace } = config.temporal;
  const connection = await connectNative(connectionOptions).catch((error: unknown) => {
    throw new SetupError(
      `Temporal cannot be reached (${String(error)}): start it, or set TEMPORAL_ADDRESS.`,
    );
  });
  const interceptors = { workflow: [tracedStarts(currentTrace)] };
  const client = new Client({ connection, namespace, interceptors });
  await setupNamespace(client).catch((error: unknown) => {
    // The error of the SDK says only which call failed.
    const cause =
      error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw new SetupError(
      `The namespace ${namespace} cannot be prepared (${String(error)}${cause}): correct TEMPORAL_NAMESPACE, or make it (worker/setup-namespace.ts); where the worker may not add the search attributes Application and OrderId (both Keyword), add them.`,
    );
  });

  const registry = createRegistry();
  const metrics = createWorkerMetrics(registry);
  const pool = connect(config.DATABASE_URL, { name: 'payments-worker', max: connectionsMax });
  const sql = instrumentSql(pool, createDatabaseMetrics(registry, { connectionsMax }));
  const probe = connect(config.DATABASE_URL, { name: 'payments-worker-probe', max: 1 });
  registerBacklogMetrics(registry, createBacklogMetrics(probe).look);
  // Before the port: the first scrape shows what counts from 0 on.
  const work = composeActivities({ config, client, sql, metrics, logger });
  const operations = await openMetricsPort({
    config,
    registry,
    dependencies: {
      postgres: { needed: true, ask: () => probe`select 1` },
      temporal: temporalDependency(client, { needed: true }),
    },
    furtherMetrics: engineMetrics.read,
  });
  const workers = await createWorkers({
    connection,
    namespace,
    activities: work.activities,
    activityInterceptors: createActivityInterceptors(metrics),
    queues: config.TASK_QUEUES,
    bundlePath: config.WORKFLOW_BUNDLE,
    graceSeconds: config.SHUTDOWN_GRACE_SECONDS,
  });
  const runs = workers.map((worker) => worker.run());
  // A worker that ends by itself has failed: the process goes, whoever runs it starts it again.
  for (const run of runs)
    run.catch((error: unknown) => {
      logger.fatal({ err: error }, 'A worker failed');
      process.exit(1);
    });
  logger.info({ operations_port: operations.port }, 'Working');

  return async () => {
    operations.beginStop();
    for (const worker of workers) worker.shutdown();
    await Promise.allSettled(runs);
    await work.close();
    await connection.close();
    await Promise.all([pool.end({ timeout: 5 }), probe.end({ timeout: 5 })]);
    await operations.close();
  };
});
