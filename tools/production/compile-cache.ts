import { resolve } from 'node:path';

/**
 * Node keeps the compiled modules of the service's processes here, for the next run too: a process that is killed has
 * written nothing. V8 takes what was compiled with the same flags only, see stack/processes.ts.
 */
export const serviceCompileCache = resolve(
  import.meta.dirname,
  '../../node_modules/.cache/compile-service',
);
