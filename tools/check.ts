import { spawn } from 'node:child_process';
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

await Promise.all(
  Object.keys(scripts)
    .filter((name) => name.startsWith('check:'))
    .map(run),
);
