import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { addSums, type MemorySums } from './memory.ts';
import type { Recovery } from './disruptions.ts';
import type { Report } from './run.ts';
import { addConversions, type Conversion } from './fallbacks.ts';

/** The part of a long run that one finished run adds. */
export interface Piece {
  seed: string;
  created: number;
  kills: number;
  violations: string[];
  posts: number;
  statuses: Record<string, number>;
  responses: Record<string, number>;
  conversion: Conversion;
  recoveries: Recovery[];
  memory: Record<string, MemorySums>;
}

export const pieceOf = (report: Report, seed: string): Piece => ({
  seed,
  created: report.created,
  kills: report.kills.length,
  violations: report.violations.map(({ order, text }) => `seed ${seed}, ${order}: ${text}`),
  posts: report.posts,
  statuses: Object.fromEntries(report.statuses),
  responses: Object.fromEntries(report.responses),
  conversion: report.conversion,
  recoveries: [...report.recoveries],
  memory: Object.fromEntries(report.memory),
});

/** The pieces that were finished, also before an interruption. */
export const readPieces = (file: string): Piece[] =>
  // Written by this program.
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Piece[]) : [];

/** Adds a piece to the file, or leaves the file as it was. */
export const savePiece = (file: string, piece: Piece): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify([...readPieces(file), piece]));
  renameSync(`${file}.new`, file);
};

export const addPieces = (pieces: readonly Piece[]) => ({
  created: sum(pieces, ({ created }) => created),
  kills: sum(pieces, ({ kills }) => kills),
  violations: pieces.flatMap(({ violations }) => violations),
  posts: sum(pieces, ({ posts }) => posts),
  statuses: addCounts(pieces.map(({ statuses }) => statuses)),
  responses: addCounts(pieces.map(({ responses }) => responses)),
  conversion: addConversions(pieces.map(({ conversion }) => conversion)),
  recoveries: addRecoveries(pieces.flatMap(({ recoveries }) => recoveries)),
  memory: addMemory(pieces.map(({ memory }) => memory)),
});

const sum = (pieces: readonly Piece[], count: (piece: Piece) => number): number =>
  pieces.reduce((total, piece) => total + count(piece), 0);

const addCounts = (all: readonly Record<string, number>[]): ReadonlyMap<string, number> => {
  const total = new Map<string, number>();
  for (const [name, count] of all.flatMap((counts) => Object.entries(counts)))
    total.set(name, (total.get(name) ?? 0) + count);
  return total;
};

const addRecoveries = (all: readonly Recovery[]): Recovery[] =>
  [...Map.groupBy(all, ({ role }) => role)].map(([role, same]) => ({
    role,
    kills: same.reduce((total, { kills }) => total + kills, 0),
    ready: same.flatMap(({ ready }) => ready).toSorted((one, other) => one - other),
    nextEvent: same.flatMap(({ nextEvent }) => nextEvent).toSorted((one, other) => one - other),
  }));

const addMemory = (all: readonly Record<string, MemorySums>[]): ReadonlyMap<string, MemorySums> => {
  const total = new Map<string, MemorySums>();
  for (const [role, sums] of all.flatMap((memory) => Object.entries(memory))) {
    const before = total.get(role);
    total.set(role, before ? addSums(before, sums) : sums);
  }
  return total;
};
