import type { AnyState } from '../../../protocol/parts.ts';
import type { Actor, Part, Step, Value } from '../../../protocol/part.ts';

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

interface Option {
  conditions: readonly string[];
  step: Step<AnyState>;
}

/** Every way through the decisions to a step. */
const optionsOf = (
  decision: Decision,
  condition: (variable: string, values: readonly Value[]) => string,
  conditions: readonly string[] = [],
): Option[] =>
  'steps' in decision
    ? decision.steps.map((step) => ({ conditions, step }))
    : decision.answers.flatMap(({ values, next }) =>
        optionsOf(next, condition, [...conditions, condition(decision.variable, values)]),
      );

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

const stepsOf = (actor: Actor<AnyState>, domains: Domains): Decision =>
  decide((state) => ({ steps: [...actor(state)] }), domains);

export interface Promela {
  text: string;
  /** The names of steps, by the number that the program prints. */
  steps: readonly string[];
  /** The variables that it prints, in their order, and the values that its numbers stand for. */
  variables: readonly string[];
  domains: Domains;
}

/**
 * Writes a part in Promela: one process that takes any step of any actor, and an assertion for each rule.
 * With `prints` the checker prints every transition: the step and all variables before and after it.
 */
export const toPromela = (
  part: Part<AnyState>,
  domains: Domains,
  { prints = false }: { prints?: boolean } = {},
): Promela => {
  const codes = new Map([...domains].map(([name, values]) => [name, [...values]]));
  // What never changes is no part of a state.
  const variables = [...domains.keys()].filter((name) => (domains.get(name)?.length ?? 0) > 1);
  const code = (variable: string, value: Value): number => {
    const values = codes.get(variable) ?? [];
    // A step may name a value that no state has: it is never taken.
    return values.includes(value) ? values.indexOf(value) : values.push(value) - 1;
  };
  const condition = (variable: string, values: readonly Value[]): string =>
    `(${values.map((value) => `${variable} == ${code(variable, value)}`).join(' || ')})`;
  const assignments = (changes: Partial<AnyState>): string =>
    Object.entries(changes)
      .filter(([name]) => variables.includes(name))
      .map(([name, value]) => `${name} = ${code(name, value as Value)};`)
      .join(' ');

  const steps: string[] = [];
  const values = `"${' %d'.repeat(variables.length)}", ${variables.map((name) => `now.${name}`).join(', ')}`;
  const print = (what: string) => (prints ? ` c_code { ${what}; };` : '');
  const options = Object.values(part.actors).flatMap((actor: Actor<AnyState>) =>
    optionsOf(stepsOf(actor, domains), condition),
  );
  const transitions = options.map(({ conditions, step: [name, changes] }) => {
    const number = steps.push(name) - 1;
    const guard = conditions.join(' && ') || 'true';
    return `  :: d_step { ${guard} ->${print(`BEFORE(${number})`)} ${assignments(changes)}${print('AFTER')} }`;
  });
  const rules = Object.entries(part.invariants).map(([words, holds]) => {
    const broken = optionsOf(
      decide((state) => ({ steps: holds(state) ? [] : [[words, {}]] }), domains),
      condition,
    );
    return broken.map(
      ({ conditions }) =>
        `  :: d_step { ${conditions.join(' && ')} -> assert(false) } /* ${words} */`,
    );
  });
  const starts = part.starts.map((start) => `  :: d_step { ${assignments(start)} }`);
  const text = [
    // Macros: `now`, the state, is not declared where this text goes.
    ...(prints
      ? [
          'c_decl {',
          `\\#define BEFORE(step) printf("%d", step), printf(${values})`,
          `\\#define AFTER printf(${values}), printf("\\n")`,
          '}',
        ]
      : []),
    ...variables.map((name) => `byte ${name};`),
    'init {',
    'if',
    ...starts,
    'fi;',
    'do',
    ...(prints ? [] : rules.flat()),
    ...transitions,
    'od }',
    '',
  ].join('\n');
  return { text, steps, variables, domains };
};
