import type { Recovery } from './recovery.ts';
import type { Report } from './run.ts';

/** For people; the timeline of every violation included. */
export const textOf = (report: Report, seed: string): string =>
  [
    '',
    `${report.created} payments: ${listOf(report.statuses)}; ${report.posts} webhooks arrived`,
    `Answers: ${listOf(report.answers)}`,
    `All was over ${secondsOf(report.drainedMs)} after the last fault`,
    ...report.recoveries.map(lineOf),
    ...report.violations.flatMap(({ order, payment, text, timeline }) => [
      '',
      `VIOLATION ${[order, payment?.id, payment?.gateway.slug, payment?.story].filter(Boolean).join(' ')}: ${text}`,
      ...timeline.map((line) => `  ${line}`),
    ]),
    '',
    `Seed ${seed}`,
  ].join('\n');

export const closingLineOf = ({ created, kills, violations }: Report): string =>
  `${created} payments, ${kills.length} kills, ${violations.length} violations`;

const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const lineOf = ({ part, kills, upAgain, nextOutcome }: Recovery): string =>
  `kill -9 ${part}, ${kills} times: up again after ${spreadOf(upAgain)}, the next outcome after ${spreadOf(nextOutcome)}`;

const spreadOf = (sorted: readonly number[]): string => {
  const median = sorted[Math.floor(sorted.length / 2)];
  const longest = sorted.at(-1);
  if (median === undefined || longest === undefined) return 'no time known';
  return `${secondsOf(median)} (at most ${secondsOf(longest)})`;
};

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
