import { median } from './load.ts';

/** One row of the table. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the machine gives at best, measured beside it; null where there is no such thing. */
  ceiling: number | null;
  /** Median over the rounds, each with its own ceiling: less noisy than the quotient of the two. */
  ratio: number | null;
  /** In words; null for what is shown and not judged. */
  must: string | null;
  holds: boolean | null;
}

export interface Limit {
  atMost?: number;
  atLeast?: number;
}

const within = (value: number, { atMost = Infinity, atLeast = -Infinity }: Limit) =>
  value >= atLeast && value <= atMost;

const words = ({ atMost, atLeast }: Limit, unit: string): string =>
  atMost === undefined ? `≥ ${atLeast} ${unit}` : `≤ ${atMost} ${unit}`;

export interface Round {
  ceiling: number;
  ours: number;
}

/** A figure that is judged by its ratio to a ceiling of the same round. */
export const compared = (
  { name, unit, ceilingName }: { name: string; unit: string; ceilingName: string },
  rounds: readonly Round[],
  limit?: Limit,
): Figure => {
  const ratio = median(rounds.map(({ ours, ceiling }) => ours / ceiling));
  return {
    name,
    value: median(rounds.map(({ ours }) => ours)),
    unit,
    ceiling: median(rounds.map(({ ceiling }) => ceiling)),
    ratio,
    must: limit ? words(limit, `× ${ceilingName}`) : null,
    holds: limit ? within(ratio, limit) : null,
  };
};

/** A figure that is judged by itself. */
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
  must: limit ? words(limit, unit) : null,
  holds: limit ? within(value, limit) : null,
});
