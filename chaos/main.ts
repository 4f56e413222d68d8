import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseWholeNumber } from '../contract/whole-number.ts';
import { minuteMs } from '../contract/time.ts';
import { SetupError } from '../process.ts';
import { thisMachine } from '../stack/programs/machine.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { plantedFaults } from './planted-faults.ts';
import { addPieces, type Piece, pieceOf, readPieces, savePiece } from './pieces.ts';
import { formatLongReport, formatReport } from './report.ts';
import { type Plan, type Report, runChaos } from './run.ts';

const usage = `npm run chaos -- [--payments N] [--piece N] [--minutes M] [--seed S]
                      [--kill-every S] [--cluster] [--fault NAME]

  --payments  how many payments are created (1000)
  --piece     how many of them in one run (1000): more are made in several runs, each on a new database, and
              the same command with the same seed goes on after an interruption. Memory is measured in
              processes of more than 5 minutes: 10000 within 27 minutes
  --minutes   how long one run takes, at least 7 (10); half as long again if a payment needs it
  --seed      repeats the payers, kills and faults of an earlier run
  --kill-every
              seconds between kills (5), or the time that a process takes to start, if that is longer
  --cluster   Temporal's four services as processes of their own, history and matching twice
  --fault     plants a fault, which the run must find: ${plantedFaults.join(', ')}`;

/** For a slow payment, once it is created: its deadline, a silent gateway, a second attempt. */
const drainMinutes = 5;
/** For the last payer, who comes after the deadline. */
const lastPayerMinutes = 1.5;

let cleanup = new AsyncDisposableStack();
let isInterrupted = false;

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    isInterrupted = true;
    void leave(1);
  });

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        payments: { type: 'string', default: '1000' },
        piece: { type: 'string', default: '1000' },
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
        'kill-every': { type: 'string', default: '5' },
        cluster: { type: 'boolean', default: false },
        fault: { type: 'string' },
      },
    });
    return values;
  } catch (cause) {
    throw new SetupError(usage, { cause });
  }
};

/** A plan for each run. @throws SetupError with the usage */
const readPlans = (): { seed: string; plans: Plan[] } => {
  const { seed, ...values } = readOptions();
  const payments = parseWholeNumber(values.payments, { min: 1, max: 100_000_000 });
  const piece = parseWholeNumber(values.piece, { min: 1, max: 100_000_000 });
  const minutes = parseWholeNumber(values.minutes, { min: 7, max: 100_000 });
  const killEvery = parseWholeNumber(values['kill-every'], { min: 1, max: 3_600 });
  const fault = plantedFaults.find((name) => name === values.fault);
  if (!payments || !piece || !minutes || !killEvery || (values.fault !== undefined && !fault))
    throw new SetupError(usage);
  const count = Math.ceil(payments / piece);
  const plans = Array.from({ length: count }, (_, index) => ({
    payments: Math.min(piece, payments - index * piece),
    seed: count === 1 ? seed : `${seed}-${index + 1}`,
    // In turn, so that each process also dies.
    ...(count > 1 && { spared: 1 + (index % 2) }),
    cluster: values.cluster,
    fault,
    quick: false,
    failing: 0.25,
    killEveryMs: killEvery * 1_000,
    loadMs: (minutes - drainMinutes - lastPayerMinutes) * minuteMs,
    // Silence of a gateway doubles the pause before it is asked again, so it may be half of the time so far.
    drainMs: Math.max(drainMinutes, minutes / 2) * minuteMs,
  }));
  return { seed, plans };
};

const runOne = async (plan: Plan): Promise<Report> => {
  const programs = await findTemporalServer(thisMachine());
  const folder = mkdtempSync(join(tmpdir(), 'payments-chaos-'));
  chmodSync(folder, 0o711);
  console.log(
    `Seed ${plan.seed}: ${plan.payments} payments within ${plan.loadMs / minuteMs} min …`,
  );
  // One at a time: an interruption stops that of the current run.
  cleanup = new AsyncDisposableStack();
  const report = await runChaos(plan, { folder, programs, cleanup, say: console.log });
  await cleanup.disposeAsync();
  // After a violation the logs and the data stay.
  if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true });
  console.log(formatReport(report, plan.seed));
  return report;
};

/** A run of several pieces. A file keeps the finished ones, so that the next call goes on. */
const runAll = async (plans: readonly Plan[], file: string): Promise<readonly Piece[]> => {
  const done = new Set(readPieces(file).map(({ seed }) => seed));
  console.log(`${done.size} of ${plans.length} runs are done; the others are added to ${file}`);
  for (const plan of plans)
    if (!done.has(plan.seed)) savePiece(file, pieceOf(await runOne(plan), plan.seed));
  const seeds = plans.map(({ seed }) => seed);
  return readPieces(file).filter(({ seed }) => seeds.includes(seed));
};

try {
  const { seed, plans } = readPlans();
  const [plan, ...others] = plans;
  if (plan && others.length === 0) process.exit((await runOne(plan)).violations.length > 0 ? 1 : 0);
  const pieces = await runAll(plans, join('.data', `chaos-${seed}.json`));
  console.log(formatLongReport(pieces));
  process.exit(addPieces(pieces).violations.length > 0 ? 1 : 0);
} catch (error) {
  // An interruption stops everything already, and errors follow from that.
  if (!isInterrupted) {
    console.error(error instanceof SetupError ? error.message : error);
    await leave(1);
  }
}
