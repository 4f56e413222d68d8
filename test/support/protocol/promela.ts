import type { AnyState } from '../../../protocol/parts.ts';
import type { Part, Step, Value } from '../../../protocol/part.ts';

/** The values that each variable may have, and the number that stands for each of them in Promela. */
export type Domains = ReadonlyMap<string, readonly Value[]>;

/** An actor asks about a variable, or takes one of the steps. */
type Decision =
  | { variable: string; answers: readonly { values: readonly Value[]; next: Decision }[] }
  | { steps: readonly Step<AnyState>[] };

class Asked extends Error {
  variable = '';
}
/** One for all questions: the stack of each would cost more than its answer. */
const asked = new Asked();

/**
 * Finds out what a function of a state asks, and what it does for each answer. The function is pure, so what
 * it asks next follows from the answers so far.
 */
const decide = (
  result: (state: AnyState) => Decision,
  domains: Domains,
  known: AnyState = {},
): Decision => {
  const state = new Proxy(known, {
    get: (_, name) => {
      const value = known[String(name)];
      if (value !== undefined) return value;
      asked.variable = String(name);
      throw asked;
    },
  });
  try {
    return result(state);
  } catch (error) {
    if (error !== asked) throw error;
    const { variable } = asked;
    const answers = new Map<string, { values: Value[]; next: Decision }>();
    for (const value of domains.get(variable) ?? []) {
      const next = decide(result, domains, { ...known, [variable]: value });
      const key = JSON.stringify(next);
      const same = answers.get(key);
      if (same) same.values.push(value);
      else answers.set(key, { values: [value], next });
    }
    const [only] = answers.values();
    return answers.size === 1 && only ? only.next : { variable, answers: [...answers.values()] };
  }
};

/** The values that the variables have in these states. */
export const domainsOf = (states: readonly AnyState[]): Domains => {
  const domains = new Map<string, Value[]>();
  for (const state of states)
    for (const [name, value] of Object.entries(state)) {
      const values = domains.get(name);
      if (!values) domains.set(name, [value]);
      else if (!values.includes(value)) values.push(value);
    }
  return domains;
};

export interface Promela {
  /** `model.pml`, and `steps.c`, which it includes: Spin itself takes no long text. */
  model: string;
  c: string;
  /** The names of the steps. A step is printed as its place, and a state as the places of its values. */
  steps: readonly string[];
  print: (state: AnyState) => string;
}

/** The most steps that an actor has in a state. */
const mostSteps = (decision: Decision): number =>
  'steps' in decision
    ? decision.steps.length
    : Math.max(0, ...decision.answers.map(({ next }) => mostSteps(next)));

/**
 * Writes a part in Promela: one process that takes any step of any actor. What the steps are is C, which Spin
 * embeds: a switch for each question, so that an actor asks no more than it must. With `PRINTS` the checker prints
 * every transition, and looks at no rule.
 */
export const toPromela = (part: Part<AnyState>, domains: Domains): Promela => {
  // A variable with one value is no part of a state.
  const variables = [...domains.keys()].filter((name) => (domains.get(name)?.length ?? 0) > 1);
  const known = new Map([...domains].map(([name, values]) => [name, [...values]]));
  const code = (variable: string, value: Value): number => {
    const values = known.get(variable) ?? [];
    // A step may name a value that no state has. If it is taken, the checker says so.
    return values.includes(value) ? values.indexOf(value) : values.push(value) - 1;
  };
  const steps = new Map<string, number>();
  const stepCode = (name: string): number => {
    const number = steps.get(name) ?? steps.size;
    steps.set(name, number);
    return number;
  };
  const toC = (decision: Decision, leaf: (step: Step<AnyState>, at: number) => string): string => {
    if ('steps' in decision) return decision.steps.map(leaf).join(' ');
    const cases = decision.answers.map(({ values, next }) => {
      const labels = values.map((value) => `case ${code(decision.variable, value)}:`);
      return `${labels.join(' ')} ${toC(next, leaf)} break;`;
    });
    return `switch (now.${decision.variable}) { ${cases.join('\n')} }`;
  };
  const assign = (state: Partial<AnyState>, prefix: string): string =>
    Object.entries(state)
      .filter(([name]) => variables.includes(name))
      .map(([name, value]) => `${prefix}${name} = ${code(name, value as Value)};`)
      .join(' ');
  const take = ([name, changes]: Step<AnyState>, at: number): string =>
    `if (wanted == ${at}) { if (apply) { BEFORE(${stepCode(name)}) ${assign(changes, 'now.')} AFTER } return 1; }`;

  const actors = Object.values(part.actors).map((actor) =>
    decide((state) => ({ steps: [...actor(state)] }), domains),
  );
  const rules = Object.entries(part.invariants).map(([words, holds]) =>
    toC(
      decide((state) => ({ steps: holds(state) ? [] : [[words, {}]] }), domains),
      ([rule]) => `{ printf("Broken: %s\\n", ${JSON.stringify(rule)}); return 1; }`,
    ),
  );
  const unknown = variables.map((name) => {
    const found = `Broken: ${name} has a value that the domains lack`;
    return `if (now.${name} >= ${domains.get(name)?.length}) { printf("${found}\\n"); return 1; }`;
  });
  const values = `"${' %d'.repeat(variables.length)}", ${variables.map((name) => `now.${name}`).join(', ')}`;
  const c = [
    '#ifdef PRINTS',
    // A function: thousands of long calls would take minutes to compile.
    `static void print(void) { printf(${values}); }`,
    '#define BEFORE(step) printf("%d", step); print();',
    '#define AFTER print(); printf("\\n");',
    '#else',
    '#define BEFORE(step)',
    '#define AFTER',
    '#endif',
    '/* Whether an actor has a step of this number; takes it if it is to be applied. */',
    ...actors.map(
      (actor, at) =>
        `static int actor${at}(int wanted, int apply) { ${toC(actor, take)}\nreturn 0; }`,
    ),
    'static int broken(void) {',
    '#ifndef PRINTS',
    ...unknown,
    ...rules,
    '#endif',
    'return 0; }',
    '',
  ];
  const options = actors.flatMap((actor, at) =>
    Array.from({ length: mostSteps(actor) }, (_, wanted) => {
      const call = (apply: number) => `actor${at}(${wanted}, ${apply})`;
      return `:: d_step { c_expr { (${call(0)}) } -> c_code { ${call(1)}; } }`;
    }),
  );
  const bits = (name: string) => Math.ceil(Math.log2(known.get(name)?.length ?? 0));
  const model = [
    ...variables.map((name) => `unsigned ${name} : ${bits(name)};`),
    'c_code { \\#include "steps.c" };',
    'init {',
    'if',
    ...part.starts.map((start) => `:: d_step { ${assign(start, '')} }`),
    'fi;',
    'do',
    ':: c_expr { (broken()) } -> assert(false)',
    ...options,
    'od }',
    '',
  ];
  return {
    model: model.join('\n'),
    c: c.join('\n'),
    steps: [...steps.keys()],
    print: (state) => variables.map((name) => code(name, state[name] as Value)).join(' '),
  };
};
