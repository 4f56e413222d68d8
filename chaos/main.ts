import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readStackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { createTerminal } from '../stack/terminal.ts';
import { mutantNames, mutate } from './mutants.ts';
import { closingLineOf, textOf } from './report.ts';
import type { Plan } from './run.ts';
import { runChaos } from './run.ts';

const usage = `npm run chaos -- [--payments N] [--minutes M] [--seed S] [--mutant NAME]

  --payments  how many are created (1000)
  --minutes   how long it may take, from 7 (10)
  --seed      repeats the payers, kills and faults of an earlier run
  --mutant    proves that it can fail: ${mutantNames.join(', ')}`;

/** What the slowest payment takes once it is created: its deadline, a silent gateway, a second attempt. */
const drainMinutes = 5;
/** How long the last payer stays, who comes after the deadline. */
const lastPayerMinutes = 1.5;
const minuteMs = 60_000;

const cleanup = new AsyncDisposableStack();

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void leave(1));

/** @throws SetupError with the usage */
const readOptions = () => {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      options: {
        payments: { ...text, default: '1000' },
        minutes: { ...text, default: '10' },
        seed: { ...text, default: String(Math.floor(Math.random() * 1e9)) },
        mutant: text,
      },
    });
    return values;
  } catch (cause) {
    throw new SetupError(usage, { cause });
  }
};

const readPlan = () => {
  const values = readOptions();
  const payments = Number(values.payments);
  const minutes = Number(values.minutes);
  if (!Number.isInteger(payments) || payments < 1 || !(minutes >= 7)) throw new SetupError(usage);
  if (values.mutant !== undefined && !mutantNames.includes(values.mutant))
    throw new SetupError(usage);
  const plan: Plan = {
    ...{ payments, seed: values.seed, quick: false, killEveryMs: 5_000 },
    loadMs: (minutes - drainMinutes - lastPayerMinutes) * minuteMs,
    drainMs: drainMinutes * minuteMs,
  };
  return { plan, mutant: values.mutant };
};

const aFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-chaos-'));
  chmodSync(folder, 0o711);
  return folder;
};

try {
  const { plan, mutant } = readPlan();
  const { loadMs, payments, seed } = plan;
  const programs = await findTemporalServer({ ...readStackConfig(), terminal: createTerminal() });
  const folder = aFolder();
  const checkout = resolve(import.meta.dirname, '..');
  const root = mutant === undefined ? checkout : mutate(mutant, { checkout, folder });
  console.log(`Seed ${seed}: ${payments} payments within ${loadMs / minuteMs} min …`);
  const report = await runChaos(plan, { folder, programs, root, cleanup, say: console.log });
  await cleanup.disposeAsync();
  // What explains a violation stays.
  if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true });
  console.log(textOf(report, seed));
  console.log(closingLineOf(report));
  process.exit(report.violations.length > 0 ? 1 : 0);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  await leave(1);
}
