import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { createWebhookDispatcher } from '../activities/webhook-connector.ts';
import { createDeliveryPlaces } from '../activities/webhook-places.ts';
import { attemptDeadlineMs } from '../activities/webhook-request.ts';
import { readWorkerConfig } from '../config.ts';
import { createGatewayDispatcher } from '../gateways/http.ts';
import { createGatewayRegistry } from '../gateways/registry.ts';
import { connect } from '../postgres/connection.ts';
import { createDeliveries } from '../postgres/deliveries.ts';
import { createIdempotencyKeys } from '../postgres/idempotency-keys.ts';
import { createLateMoney } from '../postgres/late-money.ts';
import { createSandboxPayments } from '../postgres/sandbox-payments.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createSettlements } from '../postgres/settlements.ts';
import { createSweepQueries } from '../postgres/sweep.ts';
import { createUnstarted } from '../postgres/unstarted.ts';
import { createLogger, runProcess, SetupError } from '../process.ts';
import { connectEngine } from './connection.ts';
import { prepareNamespace } from './namespace.ts';
import { createPaymentWorkflows } from './payment-workflows.ts';
import { createWorkers, deliverySlots } from './workers.ts';

await runProcess(async () => {
  const config = readWorkerConfig();
  const logger = createLogger('worker', config.LOG_LEVEL);
  // The process owns its signals: the runtime would stop workers behind its back.
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // The worker of the deliveries has none, as it is meant to be.
      if (message.startsWith('No workflows registered')) return;
      logger[level === 'ERROR' ? 'error' : 'warn']({ ...meta }, message);
    }),
  });
  const { connectionOptions, namespace } = config.temporal;
  const connection = await connectEngine(connectionOptions).catch((error: unknown) => {
    throw new SetupError(
      `Temporal cannot be reached (${String(error)}): start it, or set TEMPORAL_ADDRESS.`,
    );
  });
  const client = new Client({ connection, namespace });
  await prepareNamespace(client);

  const sql = connect(config.DATABASE_URL, { name: 'payments-worker', max: 20 });
  const targetRule = { allowLoopback: config.ALLOW_LOOPBACK_TARGETS };
  const dispatcher = createWebhookDispatcher({ ...targetRule, timeoutMs: attemptDeadlineMs });
  const gatewayDispatcher = createGatewayDispatcher();
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const secretBox = createSecretBox(config.SECRETS_KEY);
  const now = () => new Date();
  const activities = createActivities({
    settlements: createSettlements(sql),
    lateMoney: createLateMoney(sql),
    deliveries: createDeliveries(sql),
    sweepQueries: createSweepQueries(sql),
    unstarted: createUnstarted(sql),
    idempotencyKeys: createIdempotencyKeys(sql),
    gatewayOf: createGatewayRegistry({
      sandboxPayments: createSandboxPayments(sql),
      publicBaseUrl,
      secretBox,
      dispatcher: gatewayDispatcher,
      ...targetRule,
      now,
    }),
    secretBox,
    targetRule,
    places: createDeliveryPlaces({ perApplication: deliverySlots / 4 }),
    workflows: createPaymentWorkflows(client),
    dispatcher,
    publicBaseUrl,
    now,
    logger,
  });
  const workers = await createWorkers({
    connection,
    namespace,
    activities,
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
  logger.info('Working');

  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.allSettled(runs);
    await Promise.all([dispatcher.destroy(), gatewayDispatcher.destroy()]);
    await connection.close();
    await sql.end({ timeout: 5 });
  };
});
