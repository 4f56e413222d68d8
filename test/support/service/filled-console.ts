import { fillConsole } from '../data/fill-console.ts';
import { forFile } from '../for-file.ts';
import { startConsole } from './console.ts';

/** The console of a test file, with payments of two applications in every state, and some of them to look at. */
export const startFilledConsole = async (
  options: Parameters<typeof startConsole>[0] = { temporal: {} },
) => {
  const console = await forFile(startConsole(options));
  return { console, sql: console.sql, ids: await fillConsole(console.sql) };
};
