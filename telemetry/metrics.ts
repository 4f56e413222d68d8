import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BacklogMetrics } from '../postgres/backlog-metrics.ts';
import { singleFlight } from './single-flight.ts';

/**
 * Every metric there is, beside those of Node and of the Temporal SDK. Labels have few values: routes
 * of the table, gateways and codes; never an id, an address or anything else of one payment.
 */

/** Upper bounds in seconds. */
const bounds = {
  statement: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10],
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  gatewayCall: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  timeToOutcome: [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 43_200, 86_400],
  lateness: [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900, 3600],
};

/** With the metrics of the process itself: CPU, memory, event loop. */
export const createRegistry = (): Registry => {
  const registry = new Registry();
  // A timer that wakes the process; an alert looks for a lag of 200 ms, the default is every 10.
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
    help: 'Connections of the pool; statements beyond them wait.',
    registers,
  }).set(connectionsMax);
  const inFlight = { statements: 0 };
  registry.registerMetric(
    new Gauge({
      name: 'payments_database_statements_in_flight',
      help: 'Statements that run or wait for a connection of the pool.',
      registers: [],
      collect() {
        this.set(inFlight.statements);
      },
    }),
  );
  return {
    /** Counted by whoever runs them, and read at each scrape. */
    inFlight,
    statementDuration: new Histogram({
      name: 'payments_database_statement_duration_seconds',
      help: 'From asking the pool to the answer.',
      buckets: bounds.statement,
      registers,
    }),
  };
};
export type DatabaseMetrics = ReturnType<typeof createDatabaseMetrics>;

export const createApiMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'payments_http_requests_total',
      help: 'Requests, by the pattern of their route; "none" where there is no such route. Status 499: the client hung up.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestDuration: new Histogram({
      name: 'payments_http_request_duration_seconds',
      help: 'From the head of the request to the end of its handling.',
      labelNames: ['method', 'route'],
      buckets: bounds.request,
      registers,
    }),
    created: new Counter({
      name: 'payments_created_total',
      help: 'Payments written; a replayed create is none.',
      labelNames: ['gateway'],
      registers,
    }),
    notifications: new Counter({
      name: 'payments_notifications_total',
      help: 'News that gateways have signed; payment is "unknown" where it is about none of ours.',
      labelNames: ['gateway', 'payment'],
      registers,
    }),
  };
};
export type ApiMetrics = ReturnType<typeof createApiMetrics>;

export const createWorkerMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    outcomes: new Counter({
      name: 'payments_outcomes_total',
      help: 'Payments that ended; failure_code is "none" where they did not fail.',
      labelNames: ['gateway', 'status', 'failure_code'],
      registers,
    }),
    timeToOutcome: new Histogram({
      name: 'payments_time_to_outcome_seconds',
      help: 'From the create to the end of a payment.',
      labelNames: ['status'],
      buckets: bounds.timeToOutcome,
      registers,
    }),
    gatewayCalls: new Histogram({
      name: 'payments_gateway_call_duration_seconds',
      help: 'Calls to gateways. Result: what was answered; "no_answer" for no usable answer, "error" for a fault of ours.',
      labelNames: ['gateway', 'operation', 'result'],
      buckets: bounds.gatewayCall,
      registers,
    }),
    attempts: new Counter({
      name: 'payments_webhook_attempts_total',
      help: 'POSTs of webhooks. Result: delivered, retried or exhausted; error_class is "none" where delivered.',
      labelNames: ['result', 'error_class'],
      registers,
    }),
    attemptLateness: new Histogram({
      name: 'payments_webhook_attempt_lateness_seconds',
      help: 'How long after it was due by the documented delays an attempt began.',
      buckets: bounds.lateness,
      registers,
    }),
    alerts: new Counter({
      name: 'payments_alerts_total',
      help: 'Log lines with an `alert`, by its name: what no machine can settle.',
      labelNames: ['alert'],
      registers,
    }),
    swept: new Counter({
      name: 'payments_sweeper_processed_total',
      help: 'What the tasks of the sweep found and worked on.',
      labelNames: ['task'],
      registers,
    }),
    sweeperLastSuccess: new Gauge({
      name: 'payments_sweeper_last_success_timestamp_seconds',
      help: 'When a task of the sweep last ended well in this process.',
      labelNames: ['task'],
      registers,
    }),
  };
};
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

const lookMs = 2_000;

/** What waits in the database, asked at each scrape; without an answer there are no samples. */
export const registerBacklogMetrics = (
  registry: Registry,
  look: () => Promise<BacklogMetrics>,
): void => {
  const shared = singleFlight(look, { limitMs: lookMs });
  for (const [fact, { name, help }] of Object.entries(backlogGauges))
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          const left = await shared();
          if (left === undefined) this.remove();
          else this.set(left[fact as keyof BacklogMetrics]); // Its own keys.
        },
      }),
    );
};

const backlogGauges: Record<keyof BacklogMetrics, { name: string; help: string }> = {
  outboxSize: {
    name: 'payments_outbox_size',
    help: 'Payments whose workflow is not known to run yet, counted to 10,000.',
  },
  outboxAgeSeconds: {
    name: 'payments_outbox_oldest_age_seconds',
    help: 'Age of the oldest of them, 0 without any.',
  },
  overdueSeconds: {
    name: 'payments_overdue_seconds',
    help: 'How long ago the open payment with the earliest deadline should have ended, 0 without any.',
  },
  inquiryLagSeconds: {
    name: 'payments_inquiry_lag_seconds',
    help: 'How long ago a gateway was asked about the payer on the way who waits longest for that, 0 without any.',
  },
  exhausted: {
    name: 'payments_webhooks_exhausted',
    help: 'Deliveries that used up their attempts and wait for an admin, counted to 10,000.',
  },
  deliveryOverdueSeconds: {
    name: 'payments_webhooks_overdue_seconds',
    help: 'How long ago the pending delivery that is due first was due, 0 without any.',
  },
};

/** 1 or 0 by the same look that readiness takes. */
export const registerDependencies = (
  registry: Registry,
  look: () => Promise<Readonly<Record<string, boolean>>>,
): void => {
  registry.registerMetric(
    new Gauge({
      name: 'payments_dependency_up',
      help: 'Whether what the process works with answers.',
      labelNames: ['dependency'],
      registers: [],
      async collect() {
        for (const [dependency, up] of Object.entries(await look()))
          this.set({ dependency }, up ? 1 : 0);
      },
    }),
  );
};
