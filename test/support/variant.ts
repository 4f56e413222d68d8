import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const bundled = ['workflows', 'contract', 'worker', 'package.json'];

/**
 * Bundles this checkout's workflows with a change, like another version of the service.
 * @param changes texts to replace in workflows/payment.ts; each must occur exactly once
 * @returns the path of the bundle
 */
export const bundleVariant = async (
  folder: string,
  changes: readonly (readonly [from: string, to: string])[],
): Promise<string> => {
  mkdirSync(folder, { recursive: true });
  for (const part of bundled) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'workflows/payment.ts');
  let text = readFileSync(path, 'utf8');
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2) throw new Error(`Does not occur exactly once: ${from}`);
    text = text.replace(from, () => to);
  }
  writeFileSync(path, text);
  const bundle = join(folder, 'workflows.js');
  await promisify(execFile)(process.execPath, [join(folder, 'worker/bundle.ts'), bundle]);
  return bundle;
};
