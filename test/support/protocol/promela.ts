import type { AnyState } from '../../../protocol/parts.ts';
import type { Part, Step, Value } from '../../../protocol/part.ts';

/** The values that each variable may have, and the number that stands for each of them in Promela. */
export type Domains = ReadonlyMap<string, readonly Value[]>;

/** What an actor does: a question about a variable, or the steps. */
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
const decide = <T extends Decision>(
  result: (state: AnyState) => T,
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
  /** The names of steps, by the number that the checker prints. */
  steps: readonly string[];
  /** The variables that it prints, in their order. A number stands for a value by its place. */
  variables: readonly string[];
  domains: Domains;
}

/** More steps than any state has; an assertion checks it. */
const mostSteps = 60;

/**
 * Writes a part in Promela: one process that takes any step of any actor. What the steps are is C, which Spin
 * embeds: a switch for each question, so that a state asks no more than it must.
 * @param options.prints the checker prints every transition: the step, and all variables before and after it
 */
export const toPromela = (
  part: Part<AnyState>,
  domains: Domains,
  { prints = false }: { prints?: boolean } = {},
): Promela => {
  // What never changes is no part of a state.
  const variables = [...domains.keys()].filter((name) => (domains.get(name)?.length ?? 0) > 1);
  const known = new Map([...domains].map(([name, values]) => [name, [...values]]));
  const code = (variable: string, value: Value): number => {
    const values = known.get(variable) ?? [];
    // A step may name a value that no state has: it is never taken.
    return values.includes(value) ? values.indexOf(value) : values.push(value) - 1;
  };
  const steps: string[] = [];
  const toC = (decision: Decision, leaf: (step: Step<AnyState>) => string): string => {
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
  const take = ([name, changes]: Step<AnyState>): string => {
    const number = steps.push(name) - 1;
    const [before, after] = prints ? [`BEFORE(${number})`, 'AFTER'] : ['', ''];
    return `if (n++ == wanted) { if (apply) { ${before} ${assign(changes, 'now.')} ${after} } return -1; }`;
  };

  const actors = Object.values(part.actors).map((actor, at) =>
    [
      `static int actor${at}(int n, int wanted, int apply) {`,
      toC(
        decide((state) => ({ steps: [...actor(state)] }), domains),
        take,
      ),
      'return n; }',
    ].join('\n'),
  );
  const rules = Object.entries(part.invariants).map(([words, holds]) =>
    toC(
      decide((state) => ({ steps: holds(state) ? [] : [[words, {}]] }), domains),
      ([rule]) => `{ printf("Broken: %s\\n", ${JSON.stringify(rule)}); return 1; }`,
    ),
  );
  const values = `"${' %d'.repeat(variables.length)}", ${variables.map((name) => `now.${name}`).join(', ')}`;
  const c = [
    `#define BEFORE(step) printf("%d", step); printf(${values});`,
    `#define AFTER printf(${values}); printf("\\n");`,
    ...actors,
    '/* Whether the state has a step of this number; takes it if it is to be applied. */',
    'static int step(int wanted, int apply) { int n = 0;',
    ...actors.map((_, at) => `if ((n = actor${at}(n, wanted, apply)) < 0) return 1;`),
    'return 0; }',
    `static int broken(void) { ${prints ? '' : rules.join('\n')}`,
    `return step(${mostSteps}, 0); }`,
    '',
  ];
  const model = [
    ...variables.map((name) => `byte ${name};`),
    'c_code { \\#include "steps.c" };',
    'init {',
    'if',
    ...part.starts.map((start) => `:: d_step { ${assign(start, '')} }`),
    'fi;',
    'do',
    ':: c_expr { broken() } -> assert(false)',
    ...Array.from(
      { length: mostSteps },
      (_, at) => `:: d_step { c_expr { step(${at}, 0) } -> c_code { step(${at}, 1); } }`,
    ),
    'od }',
    '',
  ];
  return { model: model.join('\n'), c: c.join('\n'), steps, variables, domains };
};
