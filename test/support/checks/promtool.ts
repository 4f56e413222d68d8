import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readStackConfig } from '../../../config.ts';

const module = join(import.meta.dirname, '../../../tools/promtool');
const packagePath = 'github.com/prometheus/prometheus/cmd/promtool';

/** Leaves out service discovery, whose clients are most of the program. */
const tags = 'remove_all_sd';

/**
 * Builds promtool, Prometheus's checker of rules, from the Go module in tools/promtool, which takes about two
 * minutes. Keeps it in the cache folder.
 * @returns its path
 */
export const findPromtool = async (): Promise<string> => {
  const { inherited, CACHE_DIR = join(homedir(), '.cache', 'payments') } = readStackConfig();
  const sums = readFileSync(join(module, 'go.sum'));
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 16);
  const target = join(CACHE_DIR, `promtool-${key}-${process.platform}-${process.arch}`, 'promtool');
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}`;
  const args = ['-trimpath', '-mod=readonly', '-tags', tags, '-ldflags', '-s -w'];
  await promisify(execFile)('go', ['build', ...args, '-o', temporary, packagePath], {
    cwd: module,
    env: { ...inherited, CGO_ENABLED: '0', GOWORK: 'off' },
  });
  renameSync(temporary, target);
  return target;
};
