import { BlockList, isIP } from 'node:net';

export interface TargetRule {
  /** For the embedded stack and tests: this machine too, and there also plain HTTP. */
  allowLoopback: boolean;
}

type Family = 'ipv4' | 'ipv6';

const listOf = (family: Family, ranges: string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
};

/**
 * Of IANA's special-purpose registries, RFC 9637, 9602, 9780 and 8215. A list per family: one for both
 * would take `::ffff:127.0.0.1` for this machine.
 */
const lists = {
  ipv4: {
    loopback: listOf('ipv4', ['127.0.0.0/8']),
    allowed: listOf('ipv4', ['0.0.0.0/0']),
    denied: listOf('ipv4', [
      ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
      ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
      ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
      ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
      // Azure's host service: a public address that no registry lists.
      '168.63.129.16/32',
    ]),
  },
  ipv6: {
    loopback: listOf('ipv6', ['::1/128']),
    // Only global unicast, so that every wrapping of an IPv4 address outside it is refused.
    allowed: listOf('ipv6', ['2000::/3']),
    denied: listOf('ipv6', [
      ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
    ]),
  },
};

const families: Record<number, Family> = { 4: 'ipv4', 6: 'ipv6' };

/** A zone (`2000::1%eth0`) names a link of this machine: a list would judge the rest alone. */
const familyOf = (text: string): Family | undefined =>
  text.includes('%') ? undefined : families[isIP(text)];

/**
 * Where a webhook may go: of an address as a resolver gives it, or the literal in a URL. What is no
 * address is not allowed. Asked when a URL is saved and again at every connection, of the addresses
 * its name has then.
 */
export const isAllowedAddress = (text: string, { allowLoopback }: TargetRule): boolean => {
  const family = familyOf(text);
  if (!family) return false;
  const { loopback, allowed, denied } = lists[family];
  if (loopback.check(text, family)) return allowLoopback;
  return allowed.check(text, family) && !denied.check(text, family);
};

const maxUrlLength = 2_048;

/** What is wrong with a webhook URL, as the end of a sentence; undefined when nothing is. */
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

/** `[::1]` → `::1`; a name keeps its spelling. */
export const hostOf = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

export const isAddress = (host: string): boolean => familyOf(host) !== undefined;

/** RFC 6761: these names mean this machine, whatever a name server says. */
export const isLocalhost = (host: string): boolean => /^(.+\.)?localhost\.?$/i.test(host);

const isLoopback = (host: string): boolean => {
  const family = familyOf(host);
  return family !== undefined && lists[family].loopback.check(host, family);
};
