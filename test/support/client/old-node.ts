import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readStackConfig } from '../../../config.ts';

const isOld = (program: string): boolean =>
  existsSync(program) &&
  execFileSync(program, ['--print', 'process.versions.node'], { encoding: 'utf8' }).startsWith(
    '20.',
  );

const { PATH = '' } = readStackConfig().inherited;

/** Node 20, the oldest that the client promises, where the PATH has it. */
export const oldNode: string | undefined = PATH.split(':')
  .map((folder) => join(folder, 'node'))
  .find(isOld);

export const noOldNode = 'There is no Node 20 on the PATH.';
