import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Logger } from '../../telemetry/log.ts';

/** An address or a network, e.g. 10.0.0.0/8. */
export interface Network {
  address: string;
  /** Bits; all of them for a single address. */
  prefix: number;
}

export interface Deps {
  trustedProxies: readonly Network[];
  logger: Pick<Logger, 'error'>;
}

/**
 * Finds the address of the client: the socket's, or behind trusted proxies the last address in
 * X-Forwarded-For that is not a trusted proxy. A client can forge every entry before that one.
 */
export const createClientAddress = ({ trustedProxies, logger }: Deps) => {
  let isReported = false;
  const trusted = new BlockList();
  for (const { address, prefix } of trustedProxies)
    trusted.addSubnet(address, prefix, familyOf(address));
  const isTrusted = (address: string) => trusted.check(address, familyOf(address));

  return (req: Pick<IncomingMessage, 'headers' | 'socket'>): string => {
    let client = normalize(req.socket.remoteAddress ?? '') ?? '';
    const isForwarded = req.headers['x-forwarded-for'] !== undefined;
    if (isForwarded && !isReported && client !== '' && !isTrusted(client)) {
      isReported = true;
      logger.error(
        { address: client },
        'Received X-Forwarded-For from an address that is not in TRUSTED_PROXIES: if it is your proxy, all clients behind it count as one address and share its limits; add it to TRUSTED_PROXIES',
      );
    }
    const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().join().split(',');
    while (client !== '' && isTrusted(client)) {
      const previous = normalize(forwarded.pop()?.trim() ?? '');
      // A trusted proxy writes addresses only; stop at anything else.
      if (previous === undefined) break;
      client = previous;
    }
    return client;
  };
};
export type ClientAddress = ReturnType<typeof createClientAddress>;

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** An address without port, zone and IPv4-in-IPv6 prefix; undefined when the text is not an address. */
const normalize = (text: string): string | undefined => {
  const [, host = text] = /^(?:\[([^\]]+)\]|([\d.]+):\d+)/.exec(text) ?? [];
  const withoutPort = /^[\d.]+:\d+$/.test(host) ? host.slice(0, host.indexOf(':')) : host;
  const address = withoutPort.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) ? address : undefined;
};

/**
 * The key under which limits count an address: IPv6 by its /64, because one household has a whole /64.
 * Translators and some proxies write the address of an IPv4 client as IPv6: it counts as the IPv4 address.
 */
export const rateLimitKey = (address: string): string => {
  if (isIP(address) !== 6) return address;
  // URL writes every form, also with an embedded IPv4, as groups of hex without leading zeros.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  // `::` leaves out groups that are zero.
  const [before = [], after = []] = canonical
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const groups = [...before, ...zeros, ...after];
  return embeddedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
};

/** ::ffff:0:0/96 (IPv4-mapped), ::ffff:0:0:0/96 (SIIT, RFC 7915) and 64:ff9b::/96 (NAT64, RFC 6052). */
const ipv4Networks: ReadonlySet<string> = new Set([
  '0:0:0:0:0:ffff',
  '0:0:0:0:ffff:0',
  '64:ff9b:0:0:0:0',
]);

/** The IPv4 address in the last 32 bits of an address in these networks; undefined in any other. */
const embeddedIPv4 = (groups: readonly string[]): string | undefined => {
  if (!ipv4Networks.has(groups.slice(0, 6).join(':'))) return undefined;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 0xff])
    .join('.');
};

/** The form of a client's address in the log: a truncated one names no household. */
export type AddressInLog = 'full' | 'truncated' | 'off';

/** @returns undefined if nothing is to be logged, or nothing is known */
export const addressInLog = (address: string, form: AddressInLog): string | undefined => {
  if (form === 'off' || address === '') return undefined;
  if (form === 'full') return address;
  const key = rateLimitKey(address);
  return siteKey(key) ?? `${key.slice(0, key.lastIndexOf('.'))}.0/24`;
};

/** The /48 of a /64, which one customer of a data centre has; undefined for any other key. */
export const siteKey = (key: string): string | undefined => {
  const [, site] = /^([^:]+:[^:]+:[^:]+):[^:]+::\/64$/.exec(key) ?? [];
  return site && `${site}::/48`;
};
