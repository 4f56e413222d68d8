import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDataFolder } from '../../../stack/data-folder.ts';
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
