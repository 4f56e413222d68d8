import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readProjectFile } from '../test/support/checks/project-files.ts';

/*
 * Runs the scripts `check:*` of package.json at the same time, because most of them use one core. Prints
 * what each of them says, one after the other.
 */

const { scripts } = JSON.parse(readProjectFile('package.json')) as {
  scripts: Record<string, string>;
};

const run = async (name: string) => {
  const child = spawn(process.execPath, ['--run', name]);
  const [out, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ]);
  process.stdout.write(out);
  process.stderr.write(errors);
  if (code === 0) return;
  console.error(`npm run ${name} failed`);
  process.exitCode = 1;
};

const root = join(import.meta.dirname, '..');
const ownFolder = join(root, 'node_modules/.cache');
const sharedFolder = join(homedir(), '.cache/payments/checks');
const caches = ['tsc.json', 'prettier.json'];

const copyCache = (from: string, to: string, replace: [part: string, by: string]) => {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  const temporary = `${to}.${process.pid}`;
  writeFileSync(temporary, readFileSync(from, 'utf8').replaceAll(...replace));
  renameSync(temporary, to);
};

/*
 * `npm ci` removes what the type checker and the formatter know of files that have not changed, so a copy is kept
 * beside the other caches, for all checkouts. Both compare contents. The formatter names files with their whole path.
 */
const here = `"${root}/`;
const anywhere = '"checkout:/';
for (const name of caches)
  if (!existsSync(join(ownFolder, name)))
    copyCache(join(sharedFolder, name), join(ownFolder, name), [anywhere, here]);

await Promise.all(
  Object.keys(scripts)
    .filter((name) => name.startsWith('check:'))
    .map(run),
);
for (const name of caches)
  copyCache(join(ownFolder, name), join(sharedFolder, name), [here, anywhere]);
