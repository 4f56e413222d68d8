/** A state is a flat row of small values: what Postgres, Temporal, the gateway and each try know. */
export type Value = string | number | boolean;

/** The name of a step and what it changes. The name begins with what does it in the code, or with who does it. */
export type Step<S> = readonly [name: string, changes: Partial<S>];

/** One process, or one try of an activity: the steps that it may take in a state. */
export type Actor<S> = (state: S) => Iterable<Step<S>>;

/** A part of the protocol. Every rule has its words as the key, and holds in every state that can be reached. */
export interface Part<S> {
  name: string;
  starts: readonly S[];
  actors: Readonly<Record<string, Actor<S>>>;
  invariants: Readonly<Record<string, (state: S) => boolean>>;
  /** From every state each of these stays reachable by steps that nobody may omit. */
  goals: Readonly<Record<string, (state: S) => boolean>>;
}

/**
 * The first words of steps that no goal may wait for: nobody has to take them. A lost answer is one of them, so
 * goals are promised while the gateway and the receiver answer now and then.
 */
const optional =
  /^(?:payer|application|admin|bank|crash|lost|replica|backup|failover|replay|Temporal)\b/;

export const isOptional = (step: string): boolean => optional.test(step);

/** The two tries of one activity that may run at once: one that Temporal has given up, and its retry. */
export type Try = 'a' | 'b';

/** The variables of a try, e.g. `a_at`. Typed loosely: TypeScript widens computed keys. */
export const ofTry = <S>(name: string, variables: Readonly<Record<string, Value>>): Partial<S> =>
  Object.fromEntries(
    Object.entries(variables).map(([key, value]) => [`${name}_${key}`, value]),
  ) as Partial<S>;

/** The variables of one of several like actors, e.g. `view(s, 'a').at` is `s.a_at`. */
export const view = (state: object, name: string): object =>
  new Proxy(
    {},
    {
      get: (_, key) => (state as Readonly<Record<string, Value>>)[`${name}_${String(key)}`],
    },
  );
