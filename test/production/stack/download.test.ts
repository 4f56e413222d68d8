import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { identify, isAlive } from '../../../stack/identity.ts';
import { freePort } from '../../../stack/ports.ts';
import { findTemporal } from '../../../stack/temporal/program.ts';
import { downloadHost } from '../../support/self-signed.ts';
import { until } from '../../support/until.ts';
import { aFolder, writeProgram } from '../../support/stack/support.ts';

/** The host of Temporal's downloads, on loopback behind a proxy, with this program of a few shell lines. */
const aMirror = async (lines: string[]) => {
  const folder = aFolder();
  writeProgram(join(folder, 'temporal'), lines);
  const archive = execFileSync('tar', ['-cz', '-C', folder, 'temporal']);
  const asked: string[] = [];
  const host = createTlsServer(downloadHost, ({ url = '' }, response) => {
    asked.push(url);
    const archiveUrl = 'https://temporal.download/archive.tar.gz';
    if (url === '/archive.tar.gz') response.end(archive);
    else response.end(JSON.stringify({ archiveUrl, fileToExtract: 'temporal' }));
  });
  const proxy = createServer();
  proxy.on('connect', ({ url }, socket) => {
    if (url !== 'temporal.download:443') return void socket.destroy();
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    host.emit('connection', socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo; // It listens on TCP.
  const HTTPS_PROXY = `http://127.0.0.1:${port}`;
  return { asked, inherited: { HTTPS_PROXY, SSL_CERT_FILE: downloadHost.certFile } };
};

/** Looks for Temporal on a machine that has neither the program nor Go. */
const find = (inherited: Record<string, string>, signal = new AbortController().signal) => {
  const cache = aFolder();
  const found = findTemporal({
    TEMPORAL_DOWNLOAD: true,
    CACHE_DIR: cache,
    inherited,
    terminal: { say: () => {}, progress: () => () => {} },
    signal,
  });
  const kept = () =>
    readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
  return { found, kept };
};

it('Temporal is downloaded by the version that go.mod names, and nothing else of it is kept', async () => {
  const { asked, inherited } = await aMirror([
    `echo 'temporal version 1.9.0 (Server 1.33.1, UI 2.54.1)'`,
  ]);
  const { found, kept } = find(inherited);
  expect(await found).toMatchObject({ cli: '1.9.0', server: '1.33.1' });
  expect(kept()).toEqual([expect.stringMatching(/^temporal-[0-9a-f]{16}-[^/]*\/temporal$/)]);
  const [, version] =
    /temporalio\/cli (v\S+)/.exec(readFileSync('stack/temporal/go.mod', 'utf8')) ?? [];
  expect(asked).toEqual([expect.stringContaining(`/cli/${version}?`), '/archive.tar.gz']);
});

it('says why the download failed, beside what else is missing', async () => {
  const { found, kept } = find({ HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` });
  await expect(found).rejects.toThrow(/the download failed \(.+\), Go is not installed/);
  expect(kept()).toEqual([]);
});

it('the server that a download starts ends with it when the start is called off', async () => {
  const pidFile = join(aFolder(), 'pid');
  const { inherited } = await aMirror([
    `[ "$1" = server ] && echo $$ > ${pidFile} && exec /bin/sleep 600`,
    'exit 1',
  ]);
  const start = new AbortController();
  const { found, kept } = find(inherited, start.signal);
  const pid = await until('it runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8'));
  start.abort();
  await expect(found).rejects.toThrow('aborted');
  expect(kept()).toEqual([]);
  expect(isAlive(identify(Number(pid)))).toBe(false);
});
