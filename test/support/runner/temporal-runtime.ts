import { DefaultLogger, Runtime } from '@temporalio/worker';

// The SDK has one runtime in a process, and several test files run in one, so they import this file.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: 'OFF' } },
  shutdownSignals: [],
});
