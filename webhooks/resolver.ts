import type { NameOptions, ResolveName } from './dns.ts';
import { createNameResolver } from './dns.ts';
import { AttemptError } from './failure.ts';

/** The part of an attempt that name resolution may take. */
const webhookBudgetMs = 4_000;

/** @returns a function that throws AttemptError of class dns, or another error if the fault is ours */
export const createResolver = ({
  budgetMs = webhookBudgetMs,
  ...options
}: Partial<NameOptions> = {}): ResolveName => {
  const resolve = createNameResolver({ budgetMs, ...options });
  return async (hostname) => {
    try {
      return await resolve(hostname);
    } catch (error) {
      throw toAttemptError(error);
    }
  };
};

const unknownNameCodes = new Set(['ENOTFOUND', 'ENODATA']);

/** No name server could be reached, or this process had no memory or descriptor for the query. */
const ourOwnCodes = new Set(['ECONNREFUSED', 'ENOMEM', 'EFILE']);

const toAttemptError = (cause: unknown): Error => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (ourOwnCodes.has(code))
    return new Error(`The name servers cannot be reached: ${code}`, { cause });
  const error = unknownNameCodes.has(code)
    ? 'The host name has no address'
    : 'The name servers did not answer for the host name';
  return new AttemptError({ errorClass: 'dns', error }, { cause });
};
