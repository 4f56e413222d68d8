import { median } from './load.ts';

/** One row of the table. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The best that the machine gives, measured in the same run; null if there is no such thing. */
  ceiling: number | null;
  /** The median over the rounds, each with its own ceiling: less noisy than the quotient of medians. */
  ratio: number | null;
  /** The ratio to a bare workflow whose worker is relieved of what the service's is. */
  leanRatio: number | null;
  /** In words; null for a row that has no limit. */
  limit: string | null;
  holds: boolean | null;
}

export interface Limit {
  atMost?: number;
  atLeast?: number;
}

const isWithin = (value: number, { atMost = Infinity, atLeast = -Infinity }: Limit) =>
  value >= atLeast && value <= atMost;

const formatLimit = ({ atMost, atLeast }: Limit, unit: string): string =>
  atMost === undefined ? `≥ ${atLeast} ${unit}` : `≤ ${atMost} ${unit}`;

export interface Round {
  ceiling: number;
  ours: number;
  lean?: number;
}

/** A figure whose limit is about its ratio to the ceiling of the same round. */
export const compared = (
  { name, unit, ceilingName }: { name: string; unit: string; ceilingName: string },
  rounds: readonly Round[],
  limit?: Limit,
): Figure => {
  const ratio = median(rounds.map(({ ours, ceiling }) => ours / ceiling));
  const leanRatio = median(rounds.flatMap(({ ours, lean }) => (lean ? [ours / lean] : [])));
  return {
    name,
    value: median(rounds.map(({ ours }) => ours)),
    unit,
    ceiling: median(rounds.map(({ ceiling }) => ceiling)),
    ratio,
    leanRatio: Number.isNaN(leanRatio) ? null : leanRatio,
    limit: limit ? formatLimit(limit, `× ${ceilingName}`) : null,
    holds: limit ? isWithin(ratio, limit) : null,
  };
};

/** A figure whose limit is about its own value. */
export const absolute = (
  { name, unit }: { name: string; unit: string },
  value: number,
  limit?: Limit,
): Figure => ({
  name,
  value,
  unit,
  ceiling: null,
  ratio: null,
  leanRatio: null,
  limit: limit ? formatLimit(limit, unit) : null,
  holds: limit ? isWithin(value, limit) : null,
});

const titles = ['', 'value', '', 'ceiling', 'ratio', 'lean ratio', 'limit', ''];
const numberColumns = [1, 3, 4, 5];

/** The figures as text in columns. */
export const formatTable = (figures: readonly Figure[]): string => {
  const rows = [titles, ...figures.map(formatRow)];
  const widths = titles.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    numberColumns.includes(column)
      ? cell.padStart(widths[column] ?? 0)
      : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
};

const formatRow = ({ name, unit, limit, holds, ...numbers }: Figure): string[] => {
  const verdict = holds === null ? '' : holds ? 'holds' : 'DOES NOT HOLD';
  const [value, ...others] = [numbers.value, numbers.ceiling, numbers.ratio, numbers.leanRatio].map(
    format,
  );
  return [name, value ?? '', unit, ...others, limit ?? '', verdict];
};

const format = (value: number | null): string => {
  if (value === null) return '';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
};
