import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseWholeNumber } from '../contract/whole-number.ts';
import { SetupError } from '../process.ts';
import { thisMachine } from '../stack/programs/machine.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { runRestoreDrill } from './restore-drill.ts';

const usage = 'npm run restore-drill -- [payments, 2000] [refunds, 100]';

const cleanup = new AsyncDisposableStack();

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void leave(1));

/** @throws SetupError with the usage */
const readPlan = () => {
  const [first = '2000', second = '100', ...others] = process.argv.slice(2);
  const payments = parseWholeNumber(first, { min: 1, max: 100_000_000 });
  const refunds = parseWholeNumber(second, { min: 1, max: payments ?? 1 });
  if (!payments || !refunds || others.length > 0) throw new SetupError(usage);
  return { payments, refunds };
};

try {
  const plan = readPlan();
  const programs = await findTemporalServer(thisMachine());
  const folder = mkdtempSync(join(tmpdir(), 'payments-drill-'));
  chmodSync(folder, 0o711);
  const { steps, tables, problems } = await runRestoreDrill(plan, {
    folder,
    programs,
    cleanup,
    say: console.log,
  });
  const times = steps.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
  console.log(['', ...tables, '', ...times, '', ...problems].join('\n'));
  console.log(`${problems.length} problems`);
  await cleanup.disposeAsync();
  if (problems.length > 0) console.log(`Logs and data are in ${folder}`);
  else rmSync(folder, { recursive: true });
  process.exit(problems.length > 0 ? 1 : 0);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  await leave(1);
}
