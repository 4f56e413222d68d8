import type * as engine from '../../telemetry/sdk-metrics.ts';

export const { createSdkMetrics }: typeof engine = {
  createSdkMetrics: async () => ({ telemetry: {}, read: async () => '' }),
};
