import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { cachePath, thisMachine } from '../../../stack/programs/machine.ts';
import { keptResult } from '../runner/closing-lines.ts';
import { spinVersion } from './spin.ts';

const root = join(import.meta.dirname, '../../..');
/** All that decides what Spin finds. */
const sources = [
  'protocol/**/*.ts',
  'test/support/protocol/{promela,spin,whole}.ts',
  'test/production/protocol.test.ts',
];

const folderOfModel = (): string =>
  cachePath(thisMachine(), 'protocol', [
    spinVersion(),
    ...globSync(sources, { cwd: root })
      .toSorted()
      .flatMap((path) => [path, readFileSync(join(root, path))]),
  ]);

/**
 * Makes the check of a test, unless it has succeeded before on the same model. Then the closing lines of the run say so.
 * @param check returns what it found; throws when it fails
 */
export const keepCheck = async (
  { annotate, task }: Pick<TestContext, 'annotate' | 'task'>,
  check: () => string,
  folder = folderOfModel(),
): Promise<void> => {
  const file = join(folder, `${task.name.replaceAll(/\W+/g, '-')}.txt`);
  if (existsSync(file)) {
    await annotate(`Spin has checked this model before, see ${folder}`, keptResult);
    return;
  }
  const found = check();
  console.log(found);
  mkdirSync(folder, { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${found}\n`);
  renameSync(unfinished, file);
};
