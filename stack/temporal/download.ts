import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { defaultPatienceMs, type Machine, megabytes } from '../programs/machine.ts';

interface Options extends Machine {
  downloadSite?: string;
}

/** Downloads the Temporal CLI. @throws Error with the reason */
export const download = async (
  version: string,
  /** The file to make. */
  target: string,
  options: Options,
): Promise<void> => {
  const { terminal, patienceMs = defaultPatienceMs } = options;
  const { downloadSite: site = 'https://temporal.download' } = options;
  const folder = `${target}.download`;
  const archive = join(folder, 'archive.tar.gz');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `${site}/cli/archive/v${version}?platform=${process.platform}&arch=${arch}`;
  let size = 0;
  const run = async () => {
    const silence = new AbortController();
    const reason = new Error(`no answer for ${patienceMs / 1000} s`);
    const patience = setTimeout(() => silence.abort(reason), patienceMs);
    try {
      const { signal } = silence;
      const response = await fetch(url, { dispatcher: new EnvHttpProxyAgent(), signal });
      if (!response.ok || !response.body) throw new Error(`${site} answered ${response.status}`);
      await using file = await open(archive, 'w');
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        patience.refresh();
        size += chunk.length;
        await file.write(chunk);
      }
    } finally {
      clearTimeout(patience);
    }
    await promisify(execFile)('tar', ['-xzf', archive, '-C', folder, 'temporal']);
    renameSync(join(folder, 'temporal'), target);
  };
  mkdirSync(folder, { recursive: true });
  try {
    const line = 'Downloading Temporal: there is no such program here. This happens once.';
    await terminal.step(line, run, () => megabytes(size));
  } catch (error) {
    const { cause = error } = error as Error; // fetch hides the reason in its cause.
    throw new Error(`the download failed (${String(cause)})`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
