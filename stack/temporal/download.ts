import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import type { Terminal } from '../terminal.ts';
import { cliVersion } from './build.ts';

/** The archive has about 50 MB. With a slower connection, TEMPORAL_CLI_PATH helps. */
const timeoutMs = 120_000;

export interface DownloadOptions {
  /** The file to make. */
  target: string;
  terminal: Terminal;
  /** Temporal's own download site by default. */
  site?: string | undefined;
}

/** Downloads the Temporal CLI in the version that go.mod names. @throws Error with the reason */
export const download = async ({
  target,
  terminal,
  site = 'https://temporal.download',
}: DownloadOptions): Promise<void> => {
  const folder = `${target}.download`;
  const archive = join(folder, 'archive.tar.gz');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const done = terminal.progress(
    'Downloading Temporal: there is no ready-made program here. This happens once.',
  );
  mkdirSync(folder, { recursive: true });
  try {
    const url = `${site}/cli/archive/v${cliVersion}?platform=${process.platform}&arch=${arch}`;
    const response = await fetch(url, {
      dispatcher: new EnvHttpProxyAgent(),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`${site} answered ${response.status}`);
    writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'temporal']);
    renameSync(join(folder, 'temporal'), target);
  } catch (error) {
    const { cause = error } = error as Error; // fetch hides the reason in its cause.
    throw new Error(`the download failed (${String(cause)})`, { cause: error });
  } finally {
    done();
    rmSync(folder, { recursive: true, force: true });
  }
};
