import { isOptional, type Part, type Value } from './part.ts';

/** One line of a trace: the step, and the variables that it has changed. */
export interface TraceLine {
  step: string;
  changed: Readonly<Record<string, Value>>;
}

export interface Counterexample {
  /** The rule that does not hold, in words. */
  broken: string;
  trace: readonly TraceLine[];
}

export interface Edge {
  from: number;
  step: string;
  to: number;
}

export interface Graph<S> {
  /** The nearest to a start come first. */
  states: readonly S[];
  edges: readonly Edge[];
  /** The edge by which each state was found first; -1 for a start. */
  foundBy: readonly number[];
}

export interface Exploration<S> extends Graph<S> {
  counterexample: Counterexample | undefined;
}

const mostStates = 1_000_000;

type Row = Readonly<Record<string, Value>>;

/** Finds equal states. A state's key has one character for each variable. */
const createStates = <S extends object>(variables: readonly string[]) => {
  const places = new Map(variables.map((name, place) => [name, place]));
  const codes = new Map<Value, number>();
  const states: S[] = [];
  const rows: number[][] = [];
  const found = new Map<string, number>();

  const codeOf = (value: Value): number => {
    const code = codes.get(value) ?? codes.size;
    codes.set(value, code);
    return code;
  };
  return {
    states,
    /** @returns the number of the state that the changes make of another one */
    add(state: S, changes: object, from?: number): number {
      const row = from === undefined ? [] : [...(rows[from] ?? [])];
      for (const [name, value] of Object.entries(changes) as [string, Value][]) {
        const place = places.get(name);
        if (place === undefined) throw new Error(`No variable is named ${name}`);
        row[place] = codeOf(value);
      }
      const key = String.fromCharCode(...row);
      const known = found.get(key);
      if (known !== undefined) return known;
      if (states.length >= mostStates) throw new Error(`There are more than ${mostStates} states`);
      found.set(key, states.length);
      rows.push(row);
      return states.push({ ...state, ...changes }) - 1;
    },
  };
};

/** Explores every state of a part, nearest first, so that the first counterexample is a shortest one. */
export const explore = <S extends object>(part: Part<S>): Exploration<S> => {
  const { starts, actors, invariants } = part;
  const { states, add } = createStates<S>(Object.keys(starts[0] ?? {}));
  const edges: Edge[] = [];
  const foundBy: number[] = [];
  const graph = { states, edges, foundBy };
  const steps = Object.values(actors);
  const rules = Object.entries(invariants);

  for (const start of starts) foundBy[add(start, start)] = -1;
  for (let from = 0; from < states.length; from += 1) {
    const state = states[from] as S;
    const broken = rules.find(([, holds]) => !holds(state));
    if (broken)
      return { ...graph, counterexample: { broken: broken[0], trace: traceTo(from, graph) } };
    for (const actor of steps)
      for (const [step, changes] of actor(state)) {
        const to = add(state, changes, from);
        foundBy[to] ??= edges.length;
        edges.push({ from, step, to });
      }
  }
  return { ...graph, counterexample: findStuck(part, graph) };
};

/** The nearest state from which a goal is out of reach, although everybody does what they must. */
const findStuck = <S>({ goals }: Part<S>, graph: Graph<S>): Counterexample | undefined => {
  const { states, edges } = graph;
  const before: number[][] = states.map(() => []);
  for (const { from, step, to } of edges) if (!isOptional(step)) before[to]?.push(from);
  for (const [broken, isGoal] of Object.entries(goals)) {
    const reaches = states.map(isGoal);
    const queue = [...reaches.keys()].filter((index) => reaches[index]);
    for (let index = queue.pop(); index !== undefined; index = queue.pop())
      for (const earlier of before[index] ?? [])
        if (!reaches[earlier]) {
          reaches[earlier] = true;
          queue.push(earlier);
        }
    const index = reaches.indexOf(false);
    if (index !== -1) return { broken, trace: traceTo(index, graph) };
  }
  return undefined;
};

const difference = (earlier: object, later: object): Row =>
  Object.fromEntries(
    Object.entries(later as Row).filter(([name, value]) => (earlier as Row)[name] !== value),
  );

/** A shortest way to a state: its start, as far as starts differ, and each step with what it changed. */
const traceTo = <S>(index: number, { states, edges, foundBy }: Graph<S>): TraceLine[] => {
  const trace: TraceLine[] = [];
  let at = index;
  for (let edge = edges[foundBy[at] ?? -1]; edge; edge = edges[foundBy[at] ?? -1]) {
    const changed = difference(states[edge.from] as object, states[edge.to] as object);
    trace.unshift({ step: edge.step, changed });
    at = edge.from;
  }
  const starts = states.filter((_, each) => foundBy[each] === -1) as object[];
  const changed = Object.assign(
    {},
    ...starts.map((each) => difference(each, states[at] as object)),
  );
  return [{ step: 'start', changed }, ...trace];
};

/** A counterexample as lines for people. */
export const toText = ({ broken, trace }: Counterexample): string => {
  const width = Math.max(...trace.map(({ step }) => step.length));
  const lines = trace.map(({ step, changed }, at) => {
    const values = Object.entries(changed).map(([name, value]) => `${name} ${value}`);
    return `${String(at).padStart(4)}  ${step.padEnd(width)}  ${values.join(', ')}`.trimEnd();
  });
  return [`Broken: ${broken}`, ...lines].join('\n');
};
