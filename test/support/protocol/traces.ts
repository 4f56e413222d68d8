import { type Edge, explore, type Graph } from '../../../protocol/explorer.ts';
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

type Way = readonly Edge[];

/** Counts how often the ways show each sight: a step, taken while a variable has a value. */
const createSights = ({ states }: Graph<object>) => {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  /** There are fewer values and steps. */
  const mostWords = 2 ** 16;
  const values: number[][] = [];
  const times = new Map<number, number>();
  const sightsOf = ({ from, step }: Edge): number[] => {
    values[from] ??= Object.entries(states[from] ?? {}).map(([name, value]) =>
      numberOf(`${name} ${value}`),
    );
    const first = numberOf(step) * mostWords;
    return values[from].map((value) => first + value);
  };
  return {
    add(edge: Edge, count: 1 | -1): void {
      for (const sight of sightsOf(edge)) times.set(sight, (times.get(sight) ?? 0) + count);
    },
    /** How many sights of the edge so few of the ways' steps show. */
    rare: (edge: Edge, most: number): number =>
      sightsOf(edge).filter((sight) => (times.get(sight) ?? 0) <= most).length,
  };
};
type Sights = ReturnType<typeof createSights>;

/** Finds the nearest step that shows what no way has shown yet; of several the one that shows the most. */
const createSearch = (outgoing: readonly Way[], { rare }: Sights) => {
  /** Without the edges of which everything is shown. */
  const fresh = [...outgoing];
  return (start: number): Way => {
    const foundBy = new Map<number, Edge | undefined>([[start, undefined]]);
    for (let layer = [start]; layer.length > 0;) {
      let [best, most]: [Edge | undefined, number] = [undefined, 0];
      for (const at of layer)
        fresh[at] = (fresh[at] ?? []).filter((edge) => {
          const news = rare(edge, 0);
          if (news > most) [best, most] = [edge, news];
          return news > 0;
        });
      const way: Edge[] = [];
      for (let edge: Edge | undefined = best; edge; edge = foundBy.get(edge.from))
        way.unshift(edge);
      if (way.length > 0) return way;
      const next: number[] = [];
      for (const at of layer)
        for (const edge of outgoing[at] ?? [])
          if (!foundBy.has(edge.to)) {
            foundBy.set(edge.to, edge);
            next.push(edge.to);
          }
      layer = next;
    }
    return [];
  };
};

export interface Choice<S> {
  /** Leaves out steps that cannot be carried out on the code. */
  mayStep?: (step: string, before: S) => boolean;
  /** All ways of at most so many steps. */
  short: number;
  /** A trace goes on to what no other one shows, up to so many steps. */
  longest: number;
  random: { count: number; length: number; seed: number };
}

/**
 * Chooses traces: all short ways, random ones from a seed, and ways to every step from every value of every variable.
 * @returns also the steps that no trace shows, and those that none shows from some value
 */
export const chooseTraces = <S extends object>(
  part: Part<S>,
  { mayStep = () => true, short, longest, random: { count, length, seed } }: Choice<S>,
): { traces: Trace<S>[]; uncovered: string[] } => {
  const graph = explore(part);
  const { states, edges } = graph;
  const outgoing: Edge[][] = states.map(() => []);
  for (const edge of edges)
    if (mayStep(edge.step, states[edge.from] as S)) outgoing[edge.from]?.push(edge);
  const starts = part.starts.map((_, at) => at);

  const shortWays = function* (from: number, way: Way): Iterable<Way> {
    const next = way.length < short ? (outgoing[from] ?? []) : [];
    if (next.length === 0) yield way;
    for (const edge of next) yield* shortWays(edge.to, [...way, edge]);
  };

  const random = createRandom(seed);
  const pick = <T>(choices: readonly T[]): T | undefined =>
    choices[Math.floor(random() * choices.length)];
  const walks = Array.from({ length: count }, () => {
    let at = pick(starts) ?? 0;
    const way: Edge[] = [];
    while (way.length < length) {
      const edge = pick(outgoing[at] ?? []);
      if (!edge) break;
      way.push(edge);
      at = edge.to;
    }
    return way;
  });

  const sights = createSights(graph);
  const search = createSearch(outgoing, sights);
  const ways: Edge[][] = [];
  const begun = new Set<string>();
  const beginningOf = (way: Way) =>
    [way[0]?.from, ...way.slice(0, short).map(({ step }) => step)].join(';');
  const add = (way: Edge[]): void => {
    begun.add(beginningOf(way));
    ways.push(way);
  };
  /** Adds a way that begins so. @returns whether it has a step */
  const walkOn = (begin: Way, from: number): boolean => {
    const way = [...begin];
    for (const edge of begin) sights.add(edge, 1);
    for (
      let next = search(from);
      next.length > 0 && (way.length === 0 || way.length + next.length <= longest);
      next = search(way.at(-1)?.to ?? from)
    )
      for (const edge of next) {
        way.push(edge);
        sights.add(edge, 1);
      }
    if (way.length > 0) add(way);
    return way.length > 0;
  };

  for (const walk of walks) {
    for (const edge of walk) sights.add(edge, 1);
    add(walk);
  }
  const beginnings = new Map<Edge[], number>();
  for (const start of starts)
    for (const way of shortWays(start, []))
      if (!begun.has(beginningOf(way)) && walkOn(way, way.at(-1)?.to ?? start))
        beginnings.set(ways.at(-1) ?? [], way.length);
  for (let some = starts; some.length > 0;) some = some.filter((start) => walkOn([], start));
  // The ends show nothing that the other ways, or later ones, do not show.
  for (const way of ways.slice(walks.length))
    while (way.length > (beginnings.get(way) ?? 0)) {
      const last = way.at(-1);
      if (!last || sights.rare(last, 1) > 0) break;
      sights.add(last, -1);
      way.pop();
    }

  const reached = new Set(starts);
  for (const at of reached) for (const { to } of outgoing[at] ?? []) reached.add(to);
  const missed = [...reached].flatMap((at) =>
    (outgoing[at] ?? []).filter((edge) => sights.rare(edge, 0) > 0),
  );
  const steps = new Set(ways.flatMap((way) => way.map(({ step }) => step)));
  const uncovered = [...edges.filter(({ step }) => !steps.has(step)), ...missed];
  const lineOf = ({ from, step, to }: Edge): Line<S> => ({
    step,
    before: states[from] as S,
    after: states[to] as S,
  });
  return {
    traces: ways
      .filter((way) => way.length > 0)
      .sort((one, other) => one.length - other.length)
      .map((way) => way.map(lineOf)),
    uncovered: [...new Set(uncovered.map(({ step }) => step))],
  };
};
