import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createIo } from '../../../admin/cli/io.ts';
import { runAdmin } from '../../../admin/cli/program.ts';
import type { Operations } from '../../../admin/operations.ts';
import { until } from '../../support/until.ts';

const question = 'Credentials, a JSON object (not shown; end with Ctrl-D): ';

/** A person at a terminal adds a gateway; it gets keys only while it shows none of them. */
const adding = ({ notesShown = true } = {}) => {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(raw: boolean) {
      modes.push(raw);
      return stdin;
    },
  });
  const said: string[] = [];
  const output = (isTTY = true) => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    stream.on('data', (chunk) => said.push(String(chunk)));
    return stream;
  };
  const sealed: (string | null)[] = [];
  const operations = {
    gateways: {
      add: async ({ credentials }: { credentials: string | null }) => {
        sealed.push(credentials);
      },
    },
  } as unknown as Operations; // The command needs no more of it.
  const streams = { stdin, stdout: output(), stderr: output(notesShown) };
  const io = createIo(streams as unknown as NodeJS.Process);
  const line = 'gateways add acme --driver zibal --kind live';
  const ended = runAdmin({ io, open: async () => operations }, line.split(' '));
  return {
    async type(...chunks: (string | Buffer)[]) {
      await until('it asks', () => said.includes(question));
      for (const chunk of chunks) {
        stdin.write(chunk);
        await turn();
      }
      // Whatever comes within this time belongs to what was pasted.
      vi.advanceTimersByTime(100);
    },
    stdin,
    modes,
    said: () => said.join(''),
    sealed,
    ended,
  };
};

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at a question is a no, on a line of its own', async (_, key) => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const said: string[] = [];
  stderr.on('data', (chunk) => said.push(String(chunk)));
  const io = createIo({ stdin, stdout: stderr, stderr } as unknown as NodeJS.Process);
  const open = () => Promise.reject(new Error('It connects to nothing'));
  const ended = runAdmin({ io, open }, ['secrets', 'rotate', 'shop']);
  await until('it asks', () => said.join('').includes('(yes/no)'));
  stdin.write(key);
  expect(await ended).toBe(1);
  expect(said.join('')).toMatch(/\nNothing was done\.\n$/);
});

it('a question shows no control character of what was pasted', async () => {
  const open = () => Promise.reject(new Error('It connects to nothing'));
  const asked: string[] = [];
  const ask = async (text: string) => (asked.push(text), 'no');
  const io = { out() {}, note() {}, isInteractive: true, ask, readSecret: async () => '' };
  await runAdmin({ io, open }, ['secrets', 'rotate', 'a\u001b[2Jb\u202ec']);
  expect(asked).toEqual([expect.stringMatching(/^a\[2Jbc gets a new webhook secret/)]);
});

describe('credentials that are typed', () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
  afterAll(() => void vi.useRealTimers());

  it('are read over all the lines that were pasted, and nothing is left to the shell', async () => {
    const { type, stdin, modes, said, sealed, ended } = adding();
    await type('{\r', '  "merchant": "very-', 'secret"\n}\n', 'rm -r secrets\n', '\n');
    expect(await ended).toBe(0);
    expect(sealed.map((text) => JSON.parse(text ?? ''))).toEqual([{ merchant: 'very-secret' }]);
    expect(stdin.readableLength).toBe(0);
    expect(modes).toEqual([true, false]);
    expect(said()).toBe(`${question}\nAdded: acme\n`);
  });

  it('end once nothing more comes: the rest of what is pasted is no command either', async () => {
    const { type, stdin, modes, ended } = adding();
    await type();
    for (const piece of ['{"a":1}\n', 'rm -r ', 'secrets\n']) {
      stdin.write(piece);
      await turn();
      vi.advanceTimersByTime(60);
      await turn();
      expect(modes).toEqual([true]);
    }
    vi.advanceTimersByTime(40);
    expect(await ended).toBe(0);
    expect(modes).toEqual([true, false]);
  });

  it('end with Ctrl-D where they are no JSON, and are refused as that', async () => {
    const { type, sealed, ended } = adding();
    await type('{"merchant":\n', 'oops\n', '\u0004');
    expect(await ended).toBe(0);
    expect(sealed).toEqual(['{"merchant":\noops']);
  });

  it.each([
    ['Ctrl-C', ['{"merchant":\n', '\u0003', '"very-secret"}\n']],
    ['Ctrl-D before anything was typed', ['\n', '\u0004']],
  ])('%s: nothing is done, and what follows goes nowhere', async (_, chunks) => {
    const { type, stdin, modes, said, sealed, ended } = adding();
    await type(...chunks);
    expect(await ended).toBe(1);
    expect(sealed).toEqual([]);
    expect(stdin.readableLength).toBe(0);
    expect(modes).toEqual([true, false]);
    expect(said()).toBe(`${question}\nNothing was done.\n`);
  });

  it('are not shown either where the notes go elsewhere, and end as ever', async () => {
    const { type, modes, sealed, ended } = adding({ notesShown: false });
    // As the key Enter sends it.
    await type('{"a":1}\r');
    expect(modes[0]).toBe(true);
    expect(await ended).toBe(0);
    expect([sealed, modes]).toEqual([['{"a":1}'], [true, false]]);
  });

  it('are whole characters, wherever a chunk is cut, and can be corrected', async () => {
    const { type, sealed, ended } = adding();
    const bytes = Buffer.from('{"a":"é"x\u007f}\n');
    await type(bytes.subarray(0, 7), bytes.subarray(7));
    expect(await ended).toBe(0);
    expect(sealed).toEqual(['{"a":"é"}']);
  });
});
