import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  cachePath,
  MissingProgram,
  outputOf,
  thisMachine,
  withLock,
} from '../../../stack/programs/machine.ts';
import { findPip, installWheel } from '../../../stack/programs/wheel.ts';

/** Unpacking many packages takes long on a busy machine. */
const patienceMs = 5 * 60_000;

/**
 * Packages of PyPI in a folder for PYTHONPATH, which is filled once.
 * @param lock a file with each package, its version and its hashes; its name is that of the first one
 * @throws MissingProgram without a Python that can have them
 */
export const findPythonPackages = async (lock: string) => {
  const machine = thisMachine();
  const python = await findPip(machine);
  const code = 'import sys; print(sys.version_info >= (3, 11), sys.implementation.cache_tag)';
  const version = python && (await outputOf(python, ['-c', code], machine));
  if (!python || !version?.startsWith('True'))
    throw new MissingProgram('python3 ≥ 3.11 with pip is missing');
  const name = basename(lock, '.txt');
  const packages = cachePath(machine, name, [readFileSync(lock), version]);
  if (!existsSync(packages))
    await withLock(packages, machine, async () => {
      // It has its name when it is complete.
      if (!existsSync(packages))
        await installWheel(lock, packages, { ...machine, python, patienceMs });
    }).catch((error: Error) => {
      throw new MissingProgram(`${name}: ${error.message}`, { cause: error });
    });
  return { python, packages };
};
