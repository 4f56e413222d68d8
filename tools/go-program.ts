import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readStackConfig } from '../config.ts';

export interface GoProgram {
  name: string;
  /** The folder of the go.mod and go.sum that pin it. */
  module: string;
  packagePath: string;
  /** Build tags, separated by commas. */
  tags?: string;
}

/**
 * Builds a Go program on its first use, and keeps it in the cache directory beside the Temporal program.
 * @returns the path of the program
 */
export const findGoProgram = async ({
  name,
  module,
  packagePath,
  tags = '',
}: GoProgram): Promise<string> => {
  const { inherited, CACHE_DIR = join(homedir(), '.cache', 'payments') } = readStackConfig();
  const sums = readFileSync(join(module, 'go.sum'));
  const version = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  const platform = `${process.platform}-${process.arch}`;
  const target = join(CACHE_DIR, `${name}-${version}-${platform}`, name);
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  // Processes that build it at the same time do not see each other's unfinished file.
  const temporary = `${target}.${process.pid}`;
  const args = ['-trimpath', '-mod=readonly', '-tags', tags, '-ldflags', '-s -w'];
  await promisify(execFile)('go', ['build', ...args, '-o', temporary, packagePath], {
    cwd: module,
    env: { ...inherited, CGO_ENABLED: '0', GOWORK: 'off' },
  });
  renameSync(temporary, target);
  return target;
};
