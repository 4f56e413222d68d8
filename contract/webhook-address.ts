import { ipv6Groups } from './ipv6.ts';

/**
 * Where a webhook may go. Asked when a URL is saved and again at every connection, of the addresses
 * its name has then. Tables: IANA's special-purpose registries, RFC 9637, 9602, 9780 and 8215.
 */
export interface TargetRule {
  /** For the embedded stack and tests: this machine too, and there also plain HTTP. */
  allowLoopback: boolean;
}

const deniedIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Azure's host service: a public address that no registry lists.
  '168.63.129.16/32',
];

/** Only global unicast, so that every wrapping of an IPv4 address outside it is refused. */
const allowedIpv6 = '2000::/3';
const deniedIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const loopback = ['127.0.0.0/8', '::1/128'];

interface Address {
  bits: 32 | 128;
  value: bigint;
}

const maxUrlLength = 2_048;

/** Of an address as a resolver gives it, or the literal in a URL. What is no address is not allowed. */
export const isAllowedAddress = (text: string, { allowLoopback }: TargetRule): boolean => {
  const address = parseAddress(text);
  if (!address) return false;
  if (loopbackRanges.some((range) => contains(range, address))) return allowLoopback;
  if (address.bits === 32) return !deniedIpv4Ranges.some((range) => contains(range, address));
  return (
    contains(allowedIpv6Range, address) &&
    !deniedIpv6Ranges.some((range) => contains(range, address))
  );
};

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
  if (parseAddress(host) && !isAllowedAddress(host, rule))
    return 'must not lead to a private, reserved or internal address';
  return undefined;
};

/** `[::1]` → `::1`; a name keeps its spelling. */
export const hostOf = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

export const isAddress = (host: string): boolean => parseAddress(host) !== undefined;

/** RFC 6761: these names mean this machine, whatever a name server says. */
export const isLocalhost = (host: string): boolean => /^(.+\.)?localhost\.?$/i.test(host);

const isLoopback = (host: string): boolean => {
  const address = parseAddress(host);
  return address !== undefined && loopbackRanges.some((range) => contains(range, address));
};

const parseAddress = (text: string): Address | undefined =>
  text.includes(':') ? parseIpv6(text) : parseIpv4(text);

const parseIpv4 = (text: string): Address | undefined => {
  const parts = text.split('.');
  // Strictly as resolvers write it: other spellings pass through URL first, which normalises them.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part)))
    return undefined;
  if (parts.some((part) => Number(part) > 255)) return undefined;
  return { bits: 32, value: parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) };
};

const parseIpv6 = (text: string): Address | undefined => {
  const groups = ipv6Groups(text);
  if (!groups) return undefined;
  return {
    bits: 128,
    value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n),
  };
};

interface Range extends Address {
  prefix: number;
}

const parseRange = (text: string): Range => {
  const [address = '', prefix] = text.split('/');
  const parsed = parseAddress(address);
  if (!parsed) throw new Error(`${text} is not a range of addresses`);
  return { ...parsed, prefix: Number(prefix) };
};

const contains = (range: Range, { bits, value }: Address): boolean => {
  const shift = BigInt(range.bits - range.prefix);
  return range.bits === bits && range.value >> shift === value >> shift;
};

const deniedIpv4Ranges = deniedIpv4.map(parseRange);
const allowedIpv6Range = parseRange(allowedIpv6);
const deniedIpv6Ranges = deniedIpv6.map(parseRange);
const loopbackRanges = loopback.map(parseRange);
