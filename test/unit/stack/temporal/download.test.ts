import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../../../stack/ports.ts';
import { findTemporal } from '../../../../stack/temporal/program.ts';
import { createTerminal } from '../../../../stack/terminal.ts';
import { aFolder, writeProgram } from '../../../support/stack/support.ts';
import { listenForTest } from '../../../support/servers/listen.ts';

/** A download site whose archive holds a program of these shell lines. */
const aSite = async (lines: string[]) => {
  const folder = aFolder();
  writeProgram(join(folder, 'temporal'), lines);
  const archive = execFileSync('tar', ['-cz', '-C', folder, 'temporal']);
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.end(archive);
  });
  return { requests, downloadSite: `http://127.0.0.1:${await listenForTest(server)}` };
};

/** Looks for Temporal on a machine that has neither the program nor Go. */
const find = (downloadSite: string) => {
  const cache = aFolder();
  const found = findTemporal({
    TEMPORAL_DOWNLOAD: true,
    CACHE_DIR: cache,
    inherited: {},
    terminal: createTerminal(() => {}),
    downloadSite,
  });
  const kept = () =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('/') && !name.includes('.lock'),
    );
  return { found, kept };
};

it('downloads the version that go.mod names, and keeps nothing but the program', async () => {
  const { requests, downloadSite } = await aSite([
    `echo 'temporal version 1.9.0 (Server 1.33.1, UI 2.54.1)'`,
  ]);
  const { found, kept } = find(downloadSite);
  expect(await found).toMatchObject({ cli: '1.9.0', server: '1.33.1' });
  expect(kept()).toEqual([expect.stringMatching(/^temporal-[0-9a-f]{16}-[^/]*\/temporal$/)]);
  const [, version] =
    /temporalio\/cli (v\S+)/.exec(readFileSync('stack/temporal/go.mod', 'utf8')) ?? [];
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  expect(requests).toEqual([`/cli/archive/${version}?platform=${process.platform}&arch=${arch}`]);
});

it('says why the download failed, beside what else is missing', async () => {
  const { found, kept } = find(`http://127.0.0.1:${await freePort()}`);
  await expect(found).rejects.toThrow(/the download failed \(.+\), .*Go is not installed/);
  expect(kept()).toEqual([]);
});
