import { Registry } from 'prom-client';
import type * as metrics from '../../telemetry/metrics.ts';

/** The calls that the service makes on its metrics, and nothing behind them. */
const nothing = {
  inc() {},
  set() {},
  setToCurrentTime() {},
  observe() {},
};

/** Whatever metric is asked for. */
const all = () => new Proxy({}, { get: () => nothing }) as never;

export const {
  createRegistry,
  createDatabaseMetrics,
  createApiMetrics,
  createWorkerMetrics,
  registerBacklogMetrics,
  registerDependencies,
}: typeof metrics = {
  createRegistry: () => new Registry(),
  ...{ createDatabaseMetrics: all, createApiMetrics: all, createWorkerMetrics: all },
  ...{ registerBacklogMetrics() {}, registerDependencies() {} },
};
