import type postgres from 'postgres';

/** Values besides postgres.js's own that a query takes. */
type Types = { bigint: number };

/** The pool of postgres.js, before the wrappers of this folder. */
export type Pool = postgres.Sql<Types>;

/** Runs queries: a pool, a reserved connection or a transaction. */
export type Queries = postgres.ISql<Types>;

/** A part of a query, made with the same tag and interpolated into one. */
export type Fragment = postgres.Fragment;

/** One connection of the pool, held until `release`. */
export interface ReservedConnection extends Queries {
  release(): void;
}

type Transaction<T> = (tx: Queries) => Promise<T>;
export type BeginArguments<T> = [work: Transaction<T>] | [options: string, work: Transaction<T>];

/** A pool, as far as this service uses it. */
export interface Sql extends Queries {
  /** Runs `work` in a transaction; `options` are those of Postgres's `begin`, e.g. `read only`. */
  begin<T>(...args: BeginArguments<T>): Promise<T>;
  reserve(): Promise<ReservedConnection>;
  end(options?: { timeout?: number }): Promise<void>;
}

/** @returns the query's first row; undefined if there is none */
export const first = async <Row>(rows: PromiseLike<readonly Row[]>): Promise<Row | undefined> =>
  (await rows)[0];

/** @returns whether the statement has changed one row */
export const changesOne = async (statement: PromiseLike<{ count: number }>): Promise<boolean> =>
  (await statement).count === 1;
