import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { packClient } from '../../../tools/pack-client.ts';

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

/** Packs and installs the client once for the tests of a file, in a folder that goes with them. */
export const packAndInstall = () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-client-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const tarball = packClient(folder);
  const application = installClient(tarball.path, join(folder, 'application'));
  return { folder, tarball, application };
};
