import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isLocalhost } from '../contract/localhost.ts';
import { isAddress } from './address.ts';

/** Resolves a host name to all of its addresses, IPv4 and IPv6. */
export type ResolveName = (hostname: string) => Promise<string[]>;

export interface NameOptions {
  budgetMs: number;
  /** The default is the system's name servers. */
  servers?: readonly string[];
}

/**
 * Some name servers never answer for a family that the name does not have. Without this limit, they would
 * delay every connection by the whole budget.
 */
const otherFamilyMs = 250;

/**
 * Queries the name servers directly. The system's `getaddrinfo` has four threads for the whole process:
 * names whose servers are dead would block all other lookups, those of Postgres and Temporal included.
 * @returns a function that throws errors with the codes of `node:dns`
 */
export const createNameResolver =
  ({ budgetMs, servers }: NameOptions): ResolveName =>
  async (hostname) => {
    // One Resolver per lookup: it reads the system's current settings, and cancel() ends this lookup only.
    const resolver = new Resolver({ timeout: Math.ceil(budgetMs / 3), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timers: NodeJS.Timeout[] = [];
    const cancelAfter = (ms: number) => timers.push(setTimeout(() => resolver.cancel(), ms));
    cancelAfter(budgetMs);
    const queries = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    Promise.any(queries).then(
      () => cancelAfter(otherFamilyMs),
      () => {},
    );
    try {
      const results = await Promise.allSettled(queries);
      const addresses = results.flatMap((result) =>
        result.status === 'fulfilled' ? result.value : [],
      );
      if (addresses.length > 0) return addresses;
      throw results[0].status === 'rejected' ? results[0].reason : new Error('No address');
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  };

/** The addresses of a URL's host, which may be a literal address or `localhost` (RFC 6761). */
export const resolveHost = async (
  host: string,
  resolve: ResolveName,
): Promise<readonly string[]> => {
  if (isAddress(host)) return [host];
  if (isLocalhost(host)) return ['127.0.0.1', '::1'];
  return resolve(host);
};

/** Adapts a resolver to the `lookup` option of sockets. */
export const createLookup =
  (resolve: (hostname: string) => Promise<readonly string[]>): LookupFunction =>
  (hostname, { all: wantsAll }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [{ address, family } = { address: '', family: 0 }] = found;
        if (wantsAll) callback(null, found);
        else callback(null, address, family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
