import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError } from '../process.ts';
import { thisMachine } from '../stack/programs/machine.ts';
import { findTemporalServer } from '../stack/temporal/program.ts';
import { plantedFaults } from './planted-faults.ts';
import { formatClosingLine, formatReport } from './report.ts';
import { type Plan, runChaos } from './run.ts';

const usage = `npm run chaos -- [--payments N] [--minutes M] [--seed S] [--cluster] [--fault NAME]

  --payments  how many payments are created (1000)
  --minutes   how long the run may take, at least 7 (10)
  --seed      repeats the payers, kills and faults of an earlier run
  --cluster   Temporal's four services as processes of their own, history and matching twice
  --fault     plants a fault, which the run must find: ${plantedFaults.join(', ')}`;

/** For the slowest payment, once it is created: its deadline, a silent gateway, a second attempt. */
const drainMinutes = 5;
/** For the last payer, who comes after the deadline. */
const lastPayerMinutes = 1.5;
const minuteMs = 60_000;

const cleanup = new AsyncDisposableStack();

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void leave(1));

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        payments: { type: 'string', default: '1000' },
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
        cluster: { type: 'boolean', default: false },
        fault: { type: 'string' },
      },
    });
    return values;
  } catch (cause) {
    throw new SetupError(usage, { cause });
  }
};

/** @throws SetupError with the usage */
const readPlan = (): Plan => {
  const { seed, ...values } = readOptions();
  const payments = Number(values.payments);
  const minutes = Number(values.minutes);
  const fault = plantedFaults.find((name) => name === values.fault);
  const isValid = Number.isInteger(payments) && payments >= 1 && minutes >= 7;
  if (!isValid || (values.fault !== undefined && !fault)) throw new SetupError(usage);
  return {
    payments,
    seed,
    cluster: values.cluster,
    fault,
    quick: false,
    failing: 0.25,
    killEveryMs: 5_000,
    loadMs: (minutes - drainMinutes - lastPayerMinutes) * minuteMs,
    drainMs: drainMinutes * minuteMs,
  };
};

try {
  const plan = readPlan();
  const programs = await findTemporalServer(thisMachine());
  const folder = mkdtempSync(join(tmpdir(), 'payments-chaos-'));
  chmodSync(folder, 0o711);
  console.log(
    `Seed ${plan.seed}: ${plan.payments} payments within ${plan.loadMs / minuteMs} min …`,
  );
  const report = await runChaos(plan, { folder, programs, cleanup, say: console.log });
  await cleanup.disposeAsync();
  // After a violation the logs and the data stay.
  if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true });
  console.log(formatReport(report, plan.seed));
  console.log(formatClosingLine(report));
  process.exit(report.violations.length > 0 ? 1 : 0);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  await leave(1);
}
