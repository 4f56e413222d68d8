import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { singleFlight } from './single-flight.ts';

/*
 * All metrics of the service. Node and the Temporal SDK add theirs. Labels have few values, e.g. routes,
 * gateways and codes. They never hold an application, an id, an address or data of one payment.
 */

/** Upper bounds of the histograms, in seconds. */
const bounds = {
  statement: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10],
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  gatewayCall: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  timeToOutcome: [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 43_200, 86_400],
  lateness: [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900, 3600],
};

/** Includes the metrics of the process: CPU, memory, event loop. */
export const createRegistry = (): Registry => {
  const registry = new Registry();
  // The timer wakes the process, by default every 10 ms. The alert needs 200 ms only.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  return registry;
};

export const createDatabaseMetrics = (
  registry: Registry,
  { connectionsMax }: { connectionsMax: number },
) => {
  const registers = [registry];
  new Gauge({
    name: 'payments_database_connections_max',
    help: 'Size of the connection pool. More statements than this wait for a connection.',
    registers,
  }).set(connectionsMax);
  const inFlight = { statements: 0 };
  registry.registerMetric(
    new Gauge({
      name: 'payments_database_statements_in_flight',
      help: 'Statements that run or wait for a connection.',
      registers: [],
      collect() {
        this.set(inFlight.statements);
      },
    }),
  );
  return {
    /** Counted by postgres/metrics/statements.ts, read at each scrape. */
    inFlight,
    statementDuration: new Histogram({
      name: 'payments_database_statement_duration_seconds',
      help: 'Time from the call to the result, including the wait for a connection.',
      buckets: bounds.statement,
      registers,
    }),
  };
};
export type DatabaseMetrics = ReturnType<typeof createDatabaseMetrics>;

const createAlertCounter = (registry: Registry) =>
  new Counter({
    name: 'payments_alerts_total',
    help: 'Log lines with an `alert` field. A person must act on them.',
    labelNames: ['alert'],
    registers: [registry],
  });

export const createApiMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'payments_http_requests_total',
      help: 'Requests by the pattern of their route, or "none". Status 499: the client disconnected.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestDuration: new Histogram({
      name: 'payments_http_request_duration_seconds',
      help: 'Time from the request head to the end of the handler.',
      labelNames: ['method', 'route'],
      buckets: bounds.request,
      registers,
    }),
    created: new Counter({
      name: 'payments_created_total',
      help: 'Created payments, without replayed creates.',
      labelNames: ['gateway'],
      registers,
    }),
    notifications: new Counter({
      name: 'payments_notifications_total',
      help: 'Notifications with a valid signature, and reports with the right key. payment is "unknown" if it is not one of ours.',
      labelNames: ['gateway', 'payment'],
      registers,
    }),
    alerts: createAlertCounter(registry),
  };
};
export type ApiMetrics = ReturnType<typeof createApiMetrics>;

export const createWorkerMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    outcomes: new Counter({
      name: 'payments_outcomes_total',
      help: 'Ended payments. kind is that of the gateway; failure_code is "none" unless they failed.',
      labelNames: ['gateway', 'kind', 'status', 'failure_code'],
      registers,
    }),
    timeToOutcome: new Histogram({
      name: 'payments_time_to_outcome_seconds',
      help: 'Time from the create to the end of a payment.',
      labelNames: ['status'],
      buckets: bounds.timeToOutcome,
      registers,
    }),
    gatewayCalls: new Histogram({
      name: 'payments_gateway_call_duration_seconds',
      help: 'Duration of gateway calls. result is "no_answer" without a usable answer, "error" for our own fault.',
      labelNames: ['gateway', 'kind', 'operation', 'result'],
      buckets: bounds.gatewayCall,
      registers,
    }),
    attempts: new Counter({
      name: 'payments_webhook_attempts_total',
      help: 'Webhook attempts. result is delivered, retried or exhausted. error_class is "none" if delivered.',
      labelNames: ['result', 'error_class'],
      registers,
    }),
    attemptLateness: new Histogram({
      name: 'payments_webhook_attempt_lateness_seconds',
      help: 'Time from when an attempt was due to its start. mode is that of the payment, live or test.',
      labelNames: ['mode'],
      buckets: bounds.lateness,
      registers,
    }),
    notices: new Counter({
      name: 'payments_notices_total',
      help: 'Mails to the people of applications. result is sent, refused, failed or unknown; retried for a try that failed.',
      labelNames: ['result'],
      registers,
    }),
    alerts: createAlertCounter(registry),
    swept: new Counter({
      name: 'payments_sweeper_processed_total',
      help: 'Items that the tasks of the sweeper processed.',
      labelNames: ['task'],
      registers,
    }),
    sweeperLastSuccess: new Gauge({
      name: 'payments_sweeper_last_success_timestamp_seconds',
      help: 'Time at which a task of the sweeper last succeeded in this process.',
      labelNames: ['task'],
      registers,
    }),
  };
};
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

const readLimitMs = 2_000;

/** Gauges that read the database at each scrape. They have no samples while the database is unavailable. */
export const registerGauges = <Field extends string>(
  registry: Registry,
  read: {
    gauges: Record<Field, { name: string; help: string }>;
    measure: () => Promise<Record<Field, number>>;
  },
): void => {
  const readOnce = singleFlight(read.measure, { limitMs: readLimitMs });
  for (const field in read.gauges)
    registry.registerMetric(
      new Gauge({
        name: read.gauges[field].name,
        help: read.gauges[field].help,
        registers: [],
        async collect() {
          const measured = await readOnce();
          if (measured === undefined) this.remove();
          else this.set(measured[field]);
        },
      }),
    );
};

/** Shares the checks of the readiness probe. */
export const registerDependencies = (
  registry: Registry,
  check: () => Promise<Readonly<Record<string, boolean>>>,
): void => {
  registry.registerMetric(
    new Gauge({
      name: 'payments_dependency_up',
      help: '1 if the dependency responds to this process, else 0.',
      labelNames: ['dependency'],
      registers: [],
      async collect() {
        for (const [dependency, up] of Object.entries(await check()))
          this.set({ dependency }, up ? 1 : 0);
      },
    }),
  );
};
