import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killGroup, launch, onAbort, withinMs } from '../launch.ts';
import type { GetOptions } from './build.ts';
import { versionOf } from './version.ts';

/** A ready-made program is about 50 MB; who has a slow connection sets TEMPORAL_CLI_PATH. */
const timeoutMs = 120_000;

/**
 * Lets the SDK download the Temporal CLI, in a process of its own that can be cut off.
 * @returns undefined when the program is there, otherwise what went wrong
 */
export const download = async ({
  target,
  env,
  terminal,
  onSpawn,
  signal,
}: GetOptions): Promise<string | undefined> => {
  const folder = `${target}.download.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const done = terminal.progress(
    'Downloading Temporal: there is no ready-made program here. This happens once; the result is kept.',
  );
  const lines: string[] = [];
  const downloader = await launch({
    command: process.execPath,
    args: [fileURLToPath(new URL('./downloader.ts', import.meta.url)), folder],
    env,
    ipc: true,
    onSpawn,
    onLine: (line) => lines.push(line),
  });
  // With the server that it starts.
  const stop = () => killGroup(downloader.pid);
  const forget = onAbort(signal, stop);
  try {
    const inTime = await withinMs(downloader.exited, timeoutMs);
    if (!inTime) stop();
    await downloader.exited;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (!(await versionOf(path))) continue;
      renameSync(path, target);
      return undefined;
    }
    return inTime ? (lines.at(-1) ?? 'no reason given') : 'it took longer than 2 minutes';
  } finally {
    forget();
    stop();
    done();
    rmSync(folder, { recursive: true, force: true });
  }
};
