import { resolve } from 'node:path';

/** Node keeps compiled modules here, for the processes of this run and of the next ones. */
export const compileCache = resolve(import.meta.dirname, '../../../node_modules/.cache/compile');
