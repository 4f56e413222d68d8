import { PaymentsError } from '../client/src/index.ts';
import { DemoError, readConnection } from './connection.ts';
import { runJourney } from './journey.ts';
import { terminal } from './terminal.ts';

/*
 * `npm run demo [-- CONNECTION_FILE]`: one payment, step by step, without a browser. The script passes
 * the file of its own stack first, so the last argument is the one to use.
 */
try {
  await runJourney(
    readConnection(process.argv.slice(2).at(-1) ?? '.data/connection.json'),
    terminal,
  );
  terminal.end('Paid, and confirmed by a signed webhook.');
} catch (error) {
  process.exitCode = 1;
  if (error instanceof DemoError || error instanceof PaymentsError) terminal.bad(error.message);
  else console.error(error);
}
