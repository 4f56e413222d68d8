import type { NameOptions, ResolveName } from '../gateways/dns.ts';
import { createNameResolver } from '../gateways/dns.ts';
import { AttemptError } from './failure.ts';

/** What one attempt may spend on names, out of its 10 s. */
const webhookBudgetMs = 4_000;

/** @returns a function that throws AttemptError of class dns, or another error where the fault is ours */
export const createResolver = ({
  budgetMs = webhookBudgetMs,
  ...options
}: Partial<NameOptions> = {}): ResolveName => {
  const resolve = createNameResolver({ budgetMs, ...options });
  return async (hostname) => {
    try {
      return await resolve(hostname);
    } catch (error) {
      throw failed(error);
    }
  };
};

const unknownCodes = new Set(['ENOTFOUND', 'ENODATA']);

/** No name server was heard: none listens, or there was no memory or descriptor to ask one. */
const ourOwnCodes = new Set(['ECONNREFUSED', 'ENOMEM', 'EFILE']);

const failed = (reason: unknown): Error => {
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  if (ourOwnCodes.has(code))
    return new Error(`The name servers cannot be asked: ${code}`, { cause: reason });
  const error = unknownCodes.has(code)
    ? 'The host name has no address'
    : 'The name servers gave no answer for the host name';
  return new AttemptError({ errorClass: 'dns', error }, { cause: reason });
};
