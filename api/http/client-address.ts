import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Logger } from '../../process.ts';

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
 * Where a request comes from, as far as it can be believed: the socket's address, and behind proxies
 * of ours the last address in X-Forwarded-For that is not one of them.
 */
export const createClientAddress = ({ trustedProxies, logger }: Deps) => {
  let isReported = false;
  const trusted = new BlockList();
  for (const { address, prefix } of trustedProxies)
    trusted.addSubnet(address, prefix, familyOf(address));
  const isTrusted = (address: string) => trusted.check(address, familyOf(address));

  return (req: Pick<IncomingMessage, 'headers' | 'socket'>): string => {
    let client = plain(req.socket.remoteAddress ?? '') ?? '';
    const isForwarded = req.headers['x-forwarded-for'] !== undefined;
    if (isForwarded && !isReported && client !== '' && !isTrusted(client)) {
      isReported = true;
      logger.error(
        { address: client },
        'X-Forwarded-For came from an address that is not in TRUSTED_PROXIES: if it is a proxy of yours, all clients count as one address, and whoever uses up its limits locks the others out',
      );
    }
    const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().join().split(',');
    while (client !== '' && isTrusted(client)) {
      const before = plain(forwarded.pop()?.trim() ?? '');
      // What is no address was not written by a proxy of ours.
      if (before === undefined) break;
      client = before;
    }
    return client;
  };
};
export type ClientAddress = ReturnType<typeof createClientAddress>;

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** An address without port, zone and IPv4-in-IPv6 dress; undefined for what is none. */
const plain = (text: string): string | undefined => {
  const [, host = text] = /^(?:\[([^\]]+)\]|([\d.]+):\d+)/.exec(text) ?? [];
  const withoutPort = /^[\d.]+:\d+$/.test(host) ? host.slice(0, host.indexOf(':')) : host;
  const address = withoutPort.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) ? address : undefined;
};

/** Whom to count an address as: a household of IPv6 has a whole /64. */
export const rateLimitKey = (address: string): string => {
  if (isIP(address) !== 6) return address;
  // URL writes every form, also with an embedded IPv4, as groups of hex without leading zeros.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  // `::` leaves out groups that are zero.
  const [before = [], after = []] = canonical
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
};
