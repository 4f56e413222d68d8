import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readStackConfig } from '../../config.ts';
import { projectFiles } from './checks/project-files.ts';

const root = join(import.meta.dirname, '../..');

/** Git's own settings of this machine do not count. */
export const gitEnvironment = {
  ...readStackConfig().inherited,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  ...{ GIT_AUTHOR_NAME: 'Tests', GIT_AUTHOR_EMAIL: 'tests@payments.example' },
  ...{ GIT_COMMITTER_NAME: 'Tests', GIT_COMMITTER_EMAIL: 'tests@payments.example' },
};

/** Makes a clean checkout of these files, as `git clone` and `npm ci` would. @returns runs Git in it */
export const makeCheckout = (folder: string) => {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: folder,
      env: gitEnvironment,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  mkdirSync(folder, { recursive: true });
  for (const path of projectFiles()) cpSync(join(root, path), join(folder, path));
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Add everything');
  linkPackages(folder);
  return git;
};

/** Instead of `npm ci`, which takes a minute. */
export const linkPackages = (folder: string): void =>
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

/** A key that signs without being asked for anything. @returns its file, and the line of a list of those allowed to sign */
export const makeSigningKey = (folder: string) => {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  const line = execFileSync('ssh-keygen', ['-y', '-f', key], { encoding: 'utf8' });
  return { key, allowed: `releases ${line}` };
};
