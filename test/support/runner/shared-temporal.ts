import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import { timeSkipping } from '../../../temporal/skip-time.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedTemporal: {
      address: string;
      /** Has a folder for each namespace in use. */
      namespaces: string;
    };
  }
}

/** More than one run needs. */
const names = Array.from({ length: 100 }, (_, index) => `test-${index + 1}`);

/**
 * Starts the Temporal server that most tests share. It has the namespaces from its start, because all
 * its parts learn of a later one only within seconds.
 */
export const startSharedTemporal = async (program: string) =>
  startTemporal({
    program,
    port: await freePort(),
    extraArgs: [
      ...timeSkipping,
      ...names.flatMap((name) => ['--namespace', name]),
      // Without the server's own workers in each namespace, for schedules and batches.
      ...['--dynamic-config-value', 'worker.perNamespaceWorkerCount=0'],
    ],
  });

/** Takes a namespace of the shared Temporal server that no other test has used. */
export const aNamespace = (): string => {
  for (const name of names)
    try {
      mkdirSync(join(inject('sharedTemporal').namespaces, name));
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  throw new Error('All namespaces of the shared Temporal server are in use');
};
