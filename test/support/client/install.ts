import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { thisMachine, withLock } from '../../../stack/programs/machine.ts';
import { packClient, type Tarball } from '../../../tools/pack-client.ts';

/** Installs the tarball into an empty folder, as an application would, and returns the folder. */
export const installClient = (tarball: string, folder: string): string => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","private":true}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    stdio: 'pipe',
  });
  return folder;
};

/**
 * Packs and installs the client, once for all files of a run.
 * @returns copies for the tests of this file, which may write into them, in a folder that goes with them
 */
export const packAndInstall = async () => {
  const shared = inject('clientFolder');
  const facts = join(shared, 'tarball.json');
  await withLock(shared, thisMachine(), async () => {
    if (existsSync(facts)) return;
    mkdirSync(shared, { recursive: true });
    const packed = packClient(shared);
    installClient(packed.path, join(shared, 'application'));
    writeFileSync(facts, JSON.stringify(packed));
  });
  const folder = mkdtempSync(join(tmpdir(), 'payments-client-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  cpSync(shared, folder, { recursive: true, verbatimSymlinks: true });
  const tarball = JSON.parse(readFileSync(facts, 'utf8')) as Tarball;
  return { folder, tarball, application: join(folder, 'application') };
};
