import { BlockList, isIP } from 'node:net';
import { isLocalhost } from '../contract/localhost.ts';

export interface TargetRule {
  /** Allows loopback, over plain HTTP too. For the embedded stack and tests. */
  allowLoopback: boolean;
}

type Family = 'ipv4' | 'ipv6';

const createList = (family: Family, ranges: string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
};

/**
 * Sources: IANA's special-purpose registries, RFC 9637, 9602, 9780 and 8215. Each family has its own lists:
 * a common list would treat `::ffff:127.0.0.1` as loopback.
 */
const lists = {
  ipv4: {
    loopback: createList('ipv4', ['127.0.0.0/8']),
    allowed: createList('ipv4', ['0.0.0.0/0']),
    denied: createList('ipv4', [
      '0.0.0.0/8',
      '10.0.0.0/8',
      '100.64.0.0/10',
      '127.0.0.0/8',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.31.196.0/24',
      '192.52.193.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '192.175.48.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/4',
      '240.0.0.0/4',
      // Azure's host service, a public address that is in no registry.
      '168.63.129.16/32',
    ]),
  },
  ipv6: {
    loopback: createList('ipv6', ['::1/128']),
    // Global unicast only. Most forms of an IPv4 address in IPv6 are outside it.
    allowed: createList('ipv6', ['2000::/3']),
    denied: createList('ipv6', [
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      '2620:4f:8000::/48',
      '3fff::/20',
    ]),
  },
};

const families: Record<number, Family> = { 4: 'ipv4', 6: 'ipv6' };

/** Undefined for an address with a zone (`2000::1%eth0`): a BlockList would ignore the zone. */
const familyOf = (text: string): Family | undefined =>
  text.includes('%') ? undefined : families[isIP(text)];

/**
 * True if a webhook may go to this address, from a resolver or from a URL. Call it when a URL is saved, and
 * again at every connection with the addresses that its name has then. False for other texts.
 */
export const isAllowedAddress = (text: string, { allowLoopback }: TargetRule): boolean => {
  const family = familyOf(text);
  if (!family) return false;
  const { loopback, allowed, denied } = lists[family];
  if (loopback.check(text, family)) return allowLoopback;
  return allowed.check(text, family) && !denied.check(text, family);
};

const maxUrlLength = 2_048;

/** The problem of a webhook URL, as the end of a sentence; undefined for a valid one. */
export const webhookUrlProblem = (text: string, rule: TargetRule): string | undefined => {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`;
  const url = URL.parse(text);
  if (!url) return 'is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.port === '0') return 'must not have port 0';
  const host = hostOf(url.hostname);
  if (isLocalhost(host) || isLoopback(host))
    return rule.allowLoopback ? undefined : 'must not lead to this machine';
  if (url.protocol !== 'https:') return 'must be an https URL';
  if (isAddress(host) && !isAllowedAddress(host, rule))
    return 'must not lead to a private, reserved or internal address';
  return undefined;
};

/** `[::1]` → `::1`. A name stays as it is. */
export const hostOf = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

export const isAddress = (host: string): boolean => familyOf(host) !== undefined;

const isLoopback = (host: string): boolean => {
  const family = familyOf(host);
  return family !== undefined && lists[family].loopback.check(host, family);
};
