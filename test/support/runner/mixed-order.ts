import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { filesThatWait } from './programs.ts';

/**
 * So many files run at once: three keep two cores busy, and beside more of them tests starve that have processes
 * answer in time. The static checks are a fourth, which runs at low priority.
 */
export const workers = 4;
/** Whole stacks under load, which a busy machine makes respond 503. See turns.ts. */
export const productionAtOnce = 2;

/** The static checks have a low priority, so they take what the tests leave, and need all the time of the run. */
export const checks = 'test/integration/tools/check.test.ts';

/** The longest files in seconds, for a machine that has not run them yet. */
export const secondsOf = new Map([
  ['test/integration/api/openapi/fuzz.test.ts', 470],
  ['test/integration/protocol/order.test.ts', 390],
  ['test/integration/admin/console/pages.browser.test.ts', 370],
  ['test/integration/deploy/alerting.test.ts', 210],
  ['test/integration/journeys/temporal-lost.test.ts', 180],
  ['test/integration/journeys/replays.test.ts', 180],
  ['test/integration/journeys/sweeper.test.ts', 140],
  ['test/integration/postgres/query-plans.test.ts', 140],
  ['test/integration/docs/shops.test.ts', 140],
  ['test/integration/protocol/opening.test.ts', 130],
  ['test/integration/protocol/refund.test.ts', 120],
  ['test/integration/journeys/secrets.test.ts', 110],
  ['test/integration/journeys/fairness.test.ts', 100],
  ['test/integration/deploy/alerts.test.ts', 100],
  ['test/production/stack/whole.browser.test.ts', 150],
  ['test/production/chaos/chaos.test.ts', 150],
  ['test/production/notices.test.ts', 130],
  ['test/production/client/inbox.test.ts', 100],
  ['test/production/rolling-restart.test.ts', 100],
]);
const usualSeconds: Record<string, number> = { unit: 2, integration: 20, production: 40 };

export interface Planned {
  path: string;
  project: string;
  /** How long it takes, as far as is known. */
  seconds: number;
  /** It needs a program that is compiled meanwhile. */
  waits?: boolean;
}

/**
 * Orders the files of a run so that no core waits, at its end neither. Of the files with servers one half begins with the
 * longest; the other, the short ones, go beside them, because long files wait most of the time. Those of
 * production are dealt among them. A process runs the files of one project, so the unit tests stay together, and their short
 * files fill the end.
 */
export const planOrder = <T extends Planned>(files: readonly T[], atOnce: number): T[] => {
  const longestFirst = files.toSorted((a, b) => b.seconds - a.seconds);
  const of = (isChosen: (file: T) => boolean) => longestFirst.filter(isChosen);
  const production = of(({ project }) => project === 'production');
  const short = of(({ project }) => project === 'integration');
  const long = takeHalf(short);
  const wholeSeconds = sum(files) / atOnce;
  const lanes = Math.min(productionAtOnce, Math.ceil(sum(production) / wholeSeconds));
  const half = (atOnce - lanes) / 2;
  const planned = [
    ...startsOf(production, lanes),
    ...startsOf(long, Math.ceil(half)),
    ...startsOf(short, Math.floor(half)),
    ...of(({ project }) => project !== 'production' && project !== 'integration').map((file) => ({
      file,
      start: Infinity,
    })),
  ];
  for (const each of planned) {
    if (each.file.path === checks) each.start = -1;
    else if (each.file.waits) each.start = Math.max(each.start, wholeSeconds / 2);
  }
  return planned.toSorted((a, b) => a.start - b.start || 0).map(({ file }) => file);
};

const sum = (files: readonly Planned[]) => files.reduce((all, { seconds }) => all + seconds, 0);

/** Removes the first files from the list, which together take half of the time. */
const takeHalf = <T extends Planned>(files: T[]): T[] => {
  const half = sum(files) / 2;
  let taken = 0;
  const end = files.findIndex(({ seconds }) => (taken += seconds) > half);
  return files.splice(0, Math.max(end, 0));
};

/** When each file begins, in seconds, where so many run at once. */
const startsOf = <T extends Planned>(files: readonly T[], lanes: number) => {
  const free = Array.from({ length: Math.max(lanes, 1) }, () => 0);
  return files.map((file) => {
    const start = Math.min(...free);
    free[free.indexOf(start)] = start + file.seconds;
    return { file, start };
  });
};

/** Plans with the durations of earlier runs, which Vitest keeps. */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waiting = filesThatWait();
    const planned = files.map((file) => {
      const { project } = file;
      const path = file.moduleId.slice(project.config.root.length + 1);
      const kept = this.ctx.cache.getTestSpecificationResult(file)?.duration;
      return {
        file,
        path,
        project: project.name,
        seconds:
          kept === undefined
            ? (secondsOf.get(path) ?? usualSeconds[project.name] ?? 1)
            : kept / 1000,
        waits: waiting.has(path),
      };
    });
    const atOnce = files[0]?.project.config.maxWorkers ?? workers;
    return planOrder(planned, atOnce).map(({ file }) => file);
  }
}
