import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

/** Every address of a name, both families. */
export type ResolveName = (hostname: string) => Promise<string[]>;

export interface NameOptions {
  budgetMs: number;
  /** By default those of the system. */
  servers?: readonly string[];
}

/**
 * Some name servers never answer for the family that a name does not have, which would use up the time
 * of every connection: whoever has an address waits no longer than this for the others.
 */
const otherFamilyMs = 250;

/**
 * Asks the name servers itself: the system's `getaddrinfo` runs in four threads, and names whose servers
 * are dead would stall all others of the process. Each question is its own, and ends in time.
 * @returns a function that throws what went wrong, with the code of `node:dns`
 */
export const createNameResolver =
  ({ budgetMs, servers }: NameOptions): ResolveName =>
  async (hostname) => {
    // Made for each question: it follows the system's settings, and cancelling stops this one only.
    const resolver = new Resolver({ timeout: Math.ceil(budgetMs / 3), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timers: NodeJS.Timeout[] = [];
    const endIn = (ms: number) => timers.push(setTimeout(() => resolver.cancel(), ms));
    endIn(budgetMs);
    const questions = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    Promise.any(questions).then(
      () => endIn(otherFamilyMs),
      () => {},
    );
    try {
      const answers = await Promise.allSettled(questions);
      const addresses = answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value : [],
      );
      if (addresses.length > 0) return addresses;
      throw answers[0].status === 'rejected' ? answers[0].reason : new Error('No address');
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  };

/** As a socket asks: for all addresses, since it may try them one after the other, or for one. */
export const lookupBy =
  (resolve: ResolveName): LookupFunction =>
  (hostname, { all: wantsAll }, answer) => {
    resolve(hostname).then(
      (found) => {
        const all = found.map((address) => ({ address, family: isIP(address) }));
        const [{ address, family } = { address: '', family: 0 }] = all;
        if (wantsAll) answer(null, all);
        else answer(null, address, family);
      },
      (error: NodeJS.ErrnoException) => answer(error, []),
    );
  };
