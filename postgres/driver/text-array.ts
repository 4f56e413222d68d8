/*
 * Symptom: by default postgres.js asks every new connection for all array types. If Postgres fails during
 * that query, the error is an unhandled rejection, and the process exits. The pool therefore sets
 * `fetch_types: false`, and postgres.js no longer knows how to read or write an array.
 * Upstream: https://github.com/porsager/postgres/issues/1192 (the crash), …/issues/1164 (static types).
 * Remove when: #1192 is fixed; then `fetch_types` can be on again.
 */

/** The type text[], of one dimension and without nulls. */
export const textArray = {
  to: 1009,
  from: [1009],
  serialize: (texts: readonly string[]) =>
    `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
  parse: (array: string) =>
    [...array.matchAll(/"((?:[^"\\]|\\.)*)"|[^{},]+/gs)].map(
      ([plain, quoted]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain,
    ),
};
