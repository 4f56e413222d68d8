import { registerHooks } from 'node:module';

/**
 * Loaded before a process of ours, it takes the metrics out of it: each of these files has one
 * beside this that does nothing. So the service itself has no switch that only the benchmark needs.
 */
const root = new URL('../..', import.meta.url).href;
const standIns: Readonly<Record<string, string>> = {
  'telemetry/metrics.ts': 'metrics.ts',
  'telemetry/query-metrics.ts': 'statements.ts',
  'telemetry/sdk-metrics.ts': 'engine-metrics.ts',
  'worker/instrumented.ts': 'measured.ts',
};

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const standIn = found.url.startsWith(root) && standIns[found.url.slice(root.length)];
    return standIn ? { ...found, url: new URL(standIn, import.meta.url).href } : found;
  },
});
