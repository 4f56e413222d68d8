export interface Statements {
  methods: object;
  calls: Record<string, () => Promise<unknown>>;
}

/** What the data has that the statements are called with. */
export interface Filled {
  owner: { application: string; test: boolean };
  idOf: (n: number) => string;
  now: Date;
}

type ArgumentsOf<M> = M extends (...args: infer A) => unknown ? A : never;

/** The arguments of a call by method name. A second call of a method has a comma and a description behind the name. */
type Rows<M> = { [K in keyof M]: ArgumentsOf<M[K]> } & {
  [K in keyof M & string as `${K}, ${string}`]: ArgumentsOf<M[K]>;
};

export const statementsOf = <M extends object>(methods: M, rows: Rows<M>): Statements => {
  const call = async (name: string, args: unknown[]): Promise<unknown> => {
    const method = methods[name.replace(/,.*/, '') as keyof M] as (...args: unknown[]) => unknown;
    const answer = method(...args);
    if (!(answer instanceof Object && Symbol.asyncIterator in answer)) return answer;
    for await (const first of answer as AsyncIterable<unknown>) return first;
    return undefined;
  };
  const calls = Object.entries(rows as Record<string, unknown[]>).map(
    ([name, args]) => [name, () => call(name, args)] as const,
  );
  return { methods, calls: Object.fromEntries(calls) };
};
