import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox, randomSecret } from '../../../../postgres/secrets/secret-box.ts';

const keys = new Map([
  ['old', randomBytes(32)],
  ['new', randomBytes(32)],
]);
const box = createSecretBox({ currentId: 'new', keys });
const secret = 'whsec_سلام-very-secret';

const errorMessage = (action: () => unknown): string => {
  try {
    return `no error but ${String(action())}`;
  } catch (error) {
    return String(error);
  }
};

describe('a sealed secret', () => {
  it('opens for its owner, and differs each time it is sealed', () => {
    const sealed = box.seal(secret, 'shop');
    expect(box.open(sealed, 'shop')).toBe(secret);
    expect(box.seal(secret, 'shop')).not.toBe(sealed);
    expect(sealed).toMatch(/^v1\.new\.[\w-]+$/);
  });

  it('does not open for another owner', () => {
    expect(() => box.open(box.seal(secret, 'shop'), 'other')).toThrow('unable to authenticate');
  });

  it('does not open when a byte is altered or the end is missing', () => {
    const [version, key, encoded = ''] = box.seal(secret, 'shop').split('.');
    const bytes = Buffer.from(encoded, 'base64url');
    const written = (altered: Uint8Array) =>
      `${version}.${key}.${Buffer.from(altered).toString('base64url')}`;
    for (const [index] of bytes.entries()) {
      const altered = Uint8Array.from(bytes);
      altered[index]! ^= 1; // The index is one of its own.
      expect(() => box.open(written(altered), 'shop'), `byte ${index}`).toThrow(Error);
      expect(() => box.open(written(bytes.subarray(0, index)), 'shop'), `${index} bytes`).toThrow(
        Error,
      );
    }
  });

  it('does not open with a shorter tag, which could be guessed', () => {
    const bytes = Buffer.from(box.seal('', 'shop').split('.')[2] ?? '', 'base64url');
    expect(bytes).toHaveLength(12 + 16);
    for (let length = 0; length < bytes.length; length += 1) {
      const cut = `v1.new.${bytes.subarray(0, length).toString('base64url')}`;
      expect(() => box.open(cut, 'shop'), `${length} bytes`).toThrow(Error);
    }
  });

  it('names a missing key or an unknown version in the error', () => {
    const [, , encoded = ''] = box.seal(secret, 'shop').split('.');
    expect(() => box.open(`v1.gone.${encoded}`, 'shop')).toThrow('no key named gone');
    expect(() => box.open(`v2.new.${encoded}`, 'shop')).toThrow('unknown version');
    expect(() => createSecretBox({ currentId: 'gone', keys }).seal(secret, 'shop')).toThrow('gone');
  });

  it('opens after a key rotation while the old key is in the ring', () => {
    const sealed = createSecretBox({ currentId: 'old', keys }).seal(secret, 'shop');
    expect(box.open(sealed, 'shop')).toBe(secret);
    const rotated = new Map([...keys].filter(([id]) => id === 'new'));
    const later = createSecretBox({ currentId: 'new', keys: rotated });
    expect(() => later.open(sealed, 'shop')).toThrow('no key named old');
  });

  it('is in no error message, neither open nor sealed', () => {
    const sealed = box.seal(secret, 'shop');
    const encoded = sealed.split('.')[2] ?? '';
    for (const text of [
      errorMessage(() => box.open(sealed, 'other')),
      errorMessage(() => box.open(sealed.replace('.new.', '.gone.'), 'shop')),
      errorMessage(() => box.open(sealed.replace('v1.', 'v9.'), 'shop')),
      errorMessage(() => box.open(encoded, 'shop')),
    ]) {
      expect(text).toMatch(/^Error/);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(encoded);
    }
  });
});

it('randomSecret is 43 characters of base62 with equal probabilities', () => {
  const drawn = Array.from({ length: 2_000 }, randomSecret);
  const counts = new Map<string, number>();
  for (const text of drawn) {
    expect(text).toMatch(/^[0-9A-Za-z]{43}$/);
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  // 86,000 draws: each about 1,387 times. Without the cut at 248 the first eight occur 1,680 times.
  expect(Math.max(...counts.values())).toBeLessThan(1_387 + 6 * 37);
  expect(new Set(drawn).size).toBe(2_000);
});
