import type * as engine from '../../worker/engine-metrics.ts';

export const { createEngineMetrics }: typeof engine = {
  createEngineMetrics: async () => ({ telemetry: {}, read: async () => '' }),
};
