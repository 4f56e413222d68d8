import type { Recovery } from './disruptions.ts';
import type { Report } from './run.ts';

/** The report for people, with the timeline of every violation. */
export const formatReport = (report: Report, seed: string): string =>
  [
    '',
    `${report.created} payments: ${formatCounts(report.statuses)}; ${report.posts} webhooks arrived`,
    `Responses: ${formatCounts(report.responses)}`,
    `Everything was done ${formatSeconds(report.drainedMs)} after the last fault`,
    ...report.recoveries.map(formatRecovery),
    ...report.violations.flatMap(({ order, payment, text, timeline }) => [
      '',
      `VIOLATION ${[order, payment?.id, payment?.gateway.slug, payment?.behaviour].filter(Boolean).join(' ')}: ${text}`,
      ...timeline.map((line) => `  ${line}`),
    ]),
    '',
    `Seed ${seed}`,
  ].join('\n');

export const formatClosingLine = ({ created, kills, violations }: Report): string =>
  `${created} payments, ${kills.length} kills, ${violations.length} violations`;

const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const formatRecovery = ({ role, kills, ready, nextEvent }: Recovery): string =>
  `kill -9 ${role}, ${kills} times: ready again after ${formatSpread(ready)}, the next event after ${formatSpread(nextEvent)}`;

const formatSpread = (sorted: readonly number[]): string => {
  const median = sorted[Math.floor(sorted.length / 2)];
  const longest = sorted.at(-1);
  if (median === undefined || longest === undefined) return 'an unknown time';
  return `${formatSeconds(median)} (at most ${formatSeconds(longest)})`;
};

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
