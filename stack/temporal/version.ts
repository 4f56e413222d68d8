import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What `temporal --version` says. */
export interface TemporalVersion {
  cli: string;
  server: string;
}

const timeoutMs = 15_000;

/** Undefined when it cannot be executed, or is not the Temporal CLI. */
export const versionOf = async (program: string): Promise<TemporalVersion | undefined> => {
  const answer = await promisify(execFile)(program, ['--version', '--disable-config-file'], {
    timeout: timeoutMs,
    env: {},
  }).catch(() => undefined);
  const [, cli, server] = /version (\S+) \(Server ([^,)\s]+)/.exec(answer?.stdout ?? '') ?? [];
  return cli && server ? { cli, server } : undefined;
};

/** Compares the numbers of two dotted versions. */
export const isAtLeast = (version: string, needed: string): boolean => {
  const parts = numbersOf(version);
  for (const [index, part] of numbersOf(needed).entries()) {
    const other = parts[index] ?? 0;
    if (other !== part) return other > part;
  }
  return true;
};

const numbersOf = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10));
