import type { Recovery } from './disruptions.ts';
import type { Conversion } from './fallbacks.ts';
import { type MemorySums, trendOf } from './memory.ts';
import { addPieces, type Piece, pieceOf } from './pieces.ts';
import type { Report } from './run.ts';

/** The report for people, with the timeline of every violation. */
export const formatReport = (report: Report, seed: string): string => {
  const pieces = [pieceOf(report, seed)];
  return [
    ...formatTotals(pieces),
    `Everything was done ${formatSeconds(report.drainedMs)} after the last fault`,
    ...report.violations.flatMap(({ order, payment, text, timeline }) => [
      '',
      `VIOLATION ${[order, payment?.id, payment?.gateway.slug, payment?.behaviour].filter(Boolean).join(' ')}: ${text}`,
      ...timeline.map((line) => `  ${line}`),
    ]),
    '',
    `Seed ${seed}`,
    formatClosingLine(pieces),
  ].join('\n');
};

/** The sums of a long run, and what was wrong in any of its pieces. */
export const formatLongReport = (pieces: readonly Piece[]): string =>
  [
    ...formatTotals(pieces),
    ...addPieces(pieces).violations.map((text) => `VIOLATION ${text}`),
    '',
    formatClosingLine(pieces),
  ].join('\n');

const formatTotals = (pieces: readonly Piece[]): string[] => {
  const { created, statuses, posts, responses, conversion, recoveries, memory } = addPieces(pieces);
  return [
    '',
    `${created} payments: ${formatCounts(statuses)}; ${posts} webhooks arrived`,
    `Responses: ${formatCounts(responses)}`,
    formatConversion(conversion),
    ...recoveries.map(formatRecovery),
    ...[...memory].flatMap(formatMemory),
  ];
};

const formatClosingLine = (pieces: readonly Piece[]): string => {
  const { created, kills, violations } = addPieces(pieces);
  return `${created} payments, ${kills} kills, ${violations.length} violations`;
};

const formatCounts = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const formatConversion = ({ down, up, inVain }: Conversion): string =>
  `Payments that were opened: ${down.opened} of ${down.wanted} while their first gateway was down, ${down.elsewhere} of ` +
  `them by another one (the first was asked ${inVain} times), and ${up.opened} of ${up.wanted} of the others`;

const formatRecovery = ({ role, kills, ready, nextEvent }: Recovery): string =>
  `kill -9 ${role}, ${kills} times: ready again after ${formatSpread(ready)}, the next event after ${formatSpread(nextEvent)}`;

const formatMemory = ([role, sums]: [string, MemorySums]): string[] => {
  const trend = trendOf(sums);
  if (!trend) return [];
  const { growth, error, lives, samples } = trend;
  return [
    `memory of ${role}: ${growth.toFixed(1)} ± ${error.toFixed(1)} MB an hour, over ${lives} lives and ${samples} samples`,
  ];
};

const formatSpread = (sorted: readonly number[]): string => {
  const median = sorted[Math.floor(sorted.length / 2)];
  const longest = sorted.at(-1);
  if (median === undefined || longest === undefined) return 'an unknown time';
  return `${formatSeconds(median)} (at most ${formatSeconds(longest)})`;
};

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
