import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFiles } from '../checks/project-files.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
/** It adds a column, a field of an activity's result and a branch of the payment's workflow. */
const patch = join(root, 'test/production/upgrade/1.1.0.patch');

/** The files of the made-up minor version that are not this version's. */
export const changedFiles = (): string[] =>
  [...readFileSync(patch, 'utf8').matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = '']) => file);

/** @returns the folder of a checkout of the made-up minor version, which the caller removes */
export const checkOutNextMinor = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-next-'));
  for (const file of projectFiles()) {
    if (/^(test|bench|chaos|protocol)\//.test(file)) continue;
    cpSync(join(root, file), join(folder, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await run('git', ['apply', '-C1', patch], { cwd: folder });
  return folder;
};
