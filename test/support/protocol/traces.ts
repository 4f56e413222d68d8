import { explore } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';

/** One way through a part: each step with the state after it. */
export type Trace<S> = readonly { step: string; before: S; after: S }[];

/** A seeded generator of numbers from 0 to 1. */
const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
};

/**
 * Chooses traces: one for each kind of transition by a shortest way, then random ones from a seed.
 * @param options.kindOf transitions of one kind need one trace
 * @param options.mayStep leaves out steps that cannot be carried out on the code
 */
export const chooseTraces = <S extends object>(
  part: Part<S>,
  {
    kindOf,
    mayStep,
    random: { count, length, seed },
  }: {
    kindOf: (step: string, before: S) => string;
    mayStep: (step: string, before: S) => boolean;
    random: { count: number; length: number; seed: number };
  },
): Trace<S>[] => {
  const { states, edges } = explore(part);
  const outgoing: { step: string; to: number }[][] = states.map(() => []);
  for (const { from, step, to } of edges)
    if (mayStep(step, states[from] as S)) outgoing[from]?.push({ step, to });
  const lineOf = (from: number, { step, to }: { step: string; to: number }) => ({
    step,
    before: states[from] as S,
    after: states[to] as S,
  });

  const starts = part.starts.map((_, at) => at);
  const ways = new Map<number, Trace<S>>(starts.map((start) => [start, []]));
  const byKind = new Map<string, Trace<S>>();
  for (const [from, way] of ways)
    for (const edge of outgoing[from] ?? []) {
      const trace = [...way, lineOf(from, edge)];
      const kind = kindOf(edge.step, states[from] as S);
      if (!byKind.has(kind)) byKind.set(kind, trace);
      if (!ways.has(edge.to)) ways.set(edge.to, trace);
    }

  const random = createRandom(seed);
  const pick = <T>(choices: readonly T[]): T | undefined =>
    choices[Math.floor(random() * choices.length)];
  const walks = Array.from({ length: count }, () => {
    let at = pick(starts) ?? 0;
    const trace: Trace<S>[number][] = [];
    while (trace.length < length) {
      const edge = pick(outgoing[at] ?? []);
      if (!edge) break;
      trace.push(lineOf(at, edge));
      at = edge.to;
    }
    return trace;
  });
  return [...byKind.values(), ...walks];
};
