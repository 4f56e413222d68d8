import { explore } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';

interface Line<S> {
  step: string;
  before: S;
  after: S;
}

/** One way through a part: each step with the states before and after it. */
export type Trace<S> = readonly Line<S>[];

/** A seeded generator of numbers from 0 to 1. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
};

/** What a trace can be the first to show: a step, taken while a variable has a value. */
const sightsOf = <S extends object>({ step, before }: Line<S>): string[] =>
  Object.entries(before).map(([name, value]) => `${step}, ${name} ${value}`);

/** Leaves out traces that another one begins with. The shortest come first. */
const withoutBeginnings = <S>(traces: readonly Trace<S>[]): Trace<S>[] =>
  traces
    .map((trace) => {
      const steps = trace.map(({ step }) => `${step};`);
      return { trace, key: [JSON.stringify(trace[0]?.before), ...steps].join('') };
    })
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .filter(({ key }, at, all) => !all[at + 1]?.key.startsWith(key))
    .map(({ trace }) => trace)
    .sort((one, other) => one.length - other.length);

/** Leaves out traces that show nothing which the others do not show, too. The longest show the most. */
const leastOf = <S extends object>(
  traces: readonly Trace<S>[],
  others: readonly Trace<S>[],
): Trace<S>[] => {
  const shown = new Set(others.flat().flatMap(sightsOf));
  return traces.toReversed().filter((trace) => {
    const sights = trace.flatMap(sightsOf);
    const isNeeded = sights.some((sight) => !shown.has(sight));
    if (isNeeded) for (const sight of sights) shown.add(sight);
    return isNeeded;
  });
};

export interface Choice<S> {
  /** Leaves out steps that cannot be carried out on the code. */
  mayStep?: (step: string, before: S) => boolean;
  /** All ways of at most so many steps. */
  short: number;
  random: { count: number; length: number; seed: number };
}

/**
 * Chooses traces: all short ones, random ones from a seed, and shortest ones to every step from every value of every
 * variable that these do not show.
 */
export const chooseTraces = <S extends object>(
  part: Part<S>,
  { mayStep = () => true, short, random: { count, length, seed } }: Choice<S>,
): { traces: Trace<S>[]; uncovered: string[] } => {
  const { states, edges } = explore(part);
  const outgoing: { to: number; line: Line<S> }[][] = states.map(() => []);
  for (const { from, step, to } of edges) {
    const line = { step, before: states[from] as S, after: states[to] as S };
    if (mayStep(step, line.before)) outgoing[from]?.push({ to, line });
  }
  const starts = part.starts.map((_, at) => at);

  const shortWays = function* (from: number, way: Trace<S>): Iterable<Trace<S>> {
    const next = way.length < short ? (outgoing[from] ?? []) : [];
    if (next.length === 0) yield way;
    for (const { to, line } of next) yield* shortWays(to, [...way, line]);
  };

  const ways = new Map<number, Trace<S>>(starts.map((start) => [start, []]));
  const sights = new Set<string>();
  const covering: Trace<S>[] = [];
  for (const [from, way] of ways)
    for (const { to, line } of outgoing[from] ?? []) {
      const trace = [...way, line];
      const shown = sightsOf(line).filter((sight) => !sights.has(sight));
      for (const sight of shown) sights.add(sight);
      if (shown.length > 0) covering.push(trace);
      if (!ways.has(to)) ways.set(to, trace);
    }

  const random = createRandom(seed);
  const pick = <T>(choices: readonly T[]): T | undefined =>
    choices[Math.floor(random() * choices.length)];
  const walks = Array.from({ length: count }, () => {
    let at = pick(starts) ?? 0;
    const trace: Line<S>[] = [];
    while (trace.length < length) {
      const edge = pick(outgoing[at] ?? []);
      if (!edge) break;
      trace.push(edge.line);
      at = edge.to;
    }
    return trace;
  });

  const shortOnes = starts.flatMap((start) => [...shortWays(start, [])]);
  const wanted = [...shortOnes, ...walks];
  const traces = withoutBeginnings([...wanted, ...leastOf(covering, wanted)]);
  const covered = new Set(traces.flatMap((trace) => trace.map(({ step }) => step)));
  const uncovered = new Set(edges.flatMap(({ step }) => (covered.has(step) ? [] : [step])));
  return { traces, uncovered: [...uncovered] };
};
