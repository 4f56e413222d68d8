import { z } from 'zod';

/**
 * A set of texts that may grow within v1. Clients that a generator makes from a closed enum reject the whole
 * response at the first new value.
 */
export const openEnum = <const T extends string>(values: readonly T[]) =>
  z.union([z.enum(values), z.string()]);
