import { Resolver } from 'node:dns/promises';
import { AttemptError } from './webhook-failure.ts';

/** @returns every address of a name, both families. @throws AttemptError of class dns */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface ResolverOptions {
  /** What one attempt may spend on names, out of its 10 s. */
  budgetMs?: number;
  /** By default those of the system. */
  servers?: readonly string[];
}

/**
 * Asks the name servers itself: the system's `getaddrinfo` runs in four threads, and one dead name
 * server would stall every application's deliveries. Each question is its own, and ends in time.
 */
export const createResolver =
  ({ budgetMs = 4_000, servers }: ResolverOptions = {}): Resolve =>
  async (hostname) => {
    // Made for each question: it follows the system's settings, and cancelling stops this one only.
    const resolver = new Resolver({ timeout: Math.ceil(budgetMs / 3), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), budgetMs);
    try {
      const answers = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ]);
      const addresses = answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value : [],
      );
      if (addresses.length > 0) return addresses;
      throw failed(answers[0].status === 'rejected' ? answers[0].reason : undefined);
    } finally {
      clearTimeout(timer);
    }
  };

const unknownCodes = new Set(['ENOTFOUND', 'ENODATA']);

const failed = (reason: unknown): AttemptError => {
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  const error = unknownCodes.has(code)
    ? 'The host name has no address'
    : 'The name servers gave no answer for the host name';
  return new AttemptError({ errorClass: 'dns', error }, { cause: reason });
};
