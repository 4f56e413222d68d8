import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeKeys, openDataFolder, readKeyRing } from '../../../stack/data-folder.ts';
import { parseKeyRing } from '../../../config.ts';
import { SetupError } from '../../../process.ts';
import { aFolder } from '../../support/stack/support.ts';

it.each([0o755, 0o700])('keeps the mode of a folder that exists: %o', (mode) => {
  const folder = aFolder();
  chmodSync(folder, mode);
  openDataFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(mode);
});

it('makes a private folder, which root lets others pass through', () => {
  const made = join(aFolder(), 'new', 'data');
  openDataFolder(made);
  expect(statSync(made).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
});

it('makes a key once, and forgets the credentials that a lost key sealed', () => {
  const folder = openDataFolder(join(aFolder(), 'data'));
  const first = readKeyRing(folder);
  expect(readKeyRing(folder)).toEqual(first);
  writeFileSync(folder.connection, '{}');

  rmSync(folder.webhooksKey);

  expect(readKeyRing(folder)).not.toEqual(first);
  expect(existsSync(folder.connection)).toBe(false);
});

it('makes keys of their own for credentials and notification secrets once', () => {
  const folder = openDataFolder(join(aFolder(), 'data'));
  makeKeys(folder);
  const made = readFileSync(folder.notificationsKey, 'utf8');
  expect(parseKeyRing(made.trim()).currentId).toBe('k1');
  expect(statSync(folder.notificationsKey).mode & 0o777).toBe(0o600);
  makeKeys(folder);
  expect(readFileSync(folder.notificationsKey, 'utf8')).toBe(made);
  readKeyRing(folder);
  const { webhooksKey, secretsKey, notificationsKey } = folder;
  const keys = [webhooksKey, secretsKey, notificationsKey].map((file) =>
    readFileSync(file, 'utf8'),
  );
  expect(new Set(keys).size).toBe(3);
});

it('says what to do with a folder in place of the key', () => {
  const folder = openDataFolder(join(aFolder(), 'data'));
  mkdirSync(folder.webhooksKey);
  expect(() => readKeyRing(folder)).toThrow(SetupError);
  expect(() => readKeyRing(folder)).toThrow(
    /webhooks-key cannot be read \(.*EISDIR.*\): put back the file, or remove what is there/,
  );
});

it('says what to do with a damaged key', () => {
  const folder = openDataFolder(join(aFolder(), 'data'));
  writeFileSync(folder.webhooksKey, 'k1:');
  expect(() => readKeyRing(folder)).toThrow(
    /webhooks-key is damaged: put back what it held, or remove it/,
  );
});
