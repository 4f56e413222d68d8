import { describe, expect, it } from 'vitest';
import { ipv6Groups } from '../../contract/ipv6.ts';

describe('ipv6Groups', () => {
  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001 db8 1 2 3 4 5 6'],
    ['2001:DB8::0009', '2001 db8 0 0 0 0 0 9'],
    ['::', '0 0 0 0 0 0 0 0'],
    ['::1', '0 0 0 0 0 0 0 1'],
    ['2001:db8::', '2001 db8 0 0 0 0 0 0'],
    ['::ffff:198.51.100.7', '0 0 0 0 0 ffff c633 6407'],
  ])('of %s are %s, however it is written', (address, groups) => {
    expect(ipv6Groups(address)?.join(' ')).toBe(groups);
  });

  it.each(['', 'fe80::1%eth0', '::g', '1:2:3', '1::2::3', 'localhost'])(
    'are none of what is no address: %j',
    (text) => {
      expect(ipv6Groups(text)).toBeUndefined();
    },
  );
});
