import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createIo, type Io } from '../../../../admin/cli/io.ts';
import { runAdmin } from '../../../../admin/cli/program.ts';
import type { Operations } from '../../../../admin/operations/operations.ts';
import { until } from '../../../support/until.ts';

const interruption = () => new AbortController().signal;

const question = 'Credentials, a JSON object (not shown; end with Ctrl-D): ';

/** A fake terminal, from which some outputs may be redirected. */
const aTerminal = ({ stdinIsTty = true, stdoutIsTty = true, stderrIsTty = true } = {}) => {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: stdinIsTty,
    setRawMode(raw: boolean) {
      modes.push(raw);
      return stdin;
    },
  });
  const printed: string[] = [];
  const output = (isTTY: boolean) => {
    const stream = Object.assign(new PassThrough(), { isTTY });
    stream.on('data', (chunk) => printed.push(String(chunk)));
    return stream;
  };
  const streams = { stdin, stdout: output(stdoutIsTty), stderr: output(stderrIsTty) };
  const io = createIo(streams as unknown as NodeJS.Process);
  return { io, stdin, modes, printed };
};

/** Runs `gateways add` at a fake terminal. */
const addGateway = (redirected: Parameters<typeof aTerminal>[0] = {}) => {
  const { io, stdin, modes, printed } = aTerminal(redirected);
  const sealed: (string | null)[] = [];
  const operations = {
    gateways: {
      add: async ({ credentials }: { credentials: string | null }) => {
        sealed.push(credentials);
      },
    },
  } as unknown as Operations; // The command uses nothing else.
  const line = 'gateways add acme --driver zibal --kind live';
  const ended = runAdmin({ io, open: async () => operations, interruption }, line.split(' '));
  return {
    async type(...chunks: (string | Buffer)[]) {
      await until('the question', () => printed.includes(question));
      for (const chunk of chunks) {
        stdin.write(chunk);
        await turn();
      }
      // Input within this time belongs to the pasted text.
      vi.advanceTimersByTime(100);
    },
    stdin,
    modes,
    printed: () => printed.join(''),
    sealed,
    ended,
  };
};

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at a question refuses, and ends the line', async (_, key) => {
  const { io, stdin, printed } = aTerminal();
  const open = () => Promise.reject(new Error('No connection is made'));
  const ended = runAdmin({ io, open, interruption }, ['secrets', 'rotate', 'shop']);
  await until('the question', () => printed.join('').includes('(yes/no)'));
  stdin.write(key);
  expect(await ended).toBe(1);
  expect(printed.join('')).toMatch(/\nNothing was done\.\n$/);
});

it('shows no control characters of the arguments in a question', async () => {
  const open = () => Promise.reject(new Error('No connection is made'));
  const asked: string[] = [];
  const ask = async (text: string) => (asked.push(text), 'no');
  const io: Io = {
    out() {},
    write: async () => true,
    note() {},
    isInteractive: true,
    showsOutput: true,
    ask,
    readSecret: async () => '',
  };
  await runAdmin({ io, open, interruption }, ['secrets', 'rotate', 'a\u001b[2Jb\u202ec']);
  expect(asked).toEqual([expect.stringMatching(/^a\[2Jbc gets a new webhook secret/)]);
});

describe('an export', () => {
  const csv = ['id,order\r\n', '1,a\u001b[31m\u009b2J\u202eb\r\n'];
  const print = async (stdoutIsTty: boolean) => {
    const { io, printed } = aTerminal({ stdoutIsTty });
    async function* lines() {
      yield* csv;
    }
    const operations = {
      accounts: { exportMovements: async () => ({ lines: lines(), open: [] }) },
    } as unknown as Operations; // The command uses nothing else.
    const words = 'export movements --from 2026-11-01 --to 2026-11-30'.split(' ');
    expect(await runAdmin({ io, open: async () => operations, interruption }, words)).toBe(0);
    return printed.join('');
  };

  it('goes to a file byte by byte', async () => {
    expect(await print(false)).toBe(csv.join(''));
  });

  it('controls no terminal', async () => {
    expect(await print(true)).toBe('id,order\n1,a[31m2Jb\n');
  });
});

describe('readSecret', () => {
  it('refuses a script that pipes nothing', async () => {
    const { io, stdin } = aTerminal({ stdinIsTty: false });
    stdin.end('\n');
    const text = 'Nothing came on standard input: pipe it in.';
    await expect(io.readSecret(question, () => true)).rejects.toThrow(text);
  });

  beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
  afterAll(() => void vi.useRealTimers());

  it('reads pasted JSON of several lines, and leaves nothing to the shell', async () => {
    const { type, stdin, modes, printed, sealed, ended } = addGateway();
    await type('{\r', '  "merchant": "very-', 'secret"\n}\n', 'rm -r secrets\n', '\n');
    expect(await ended).toBe(0);
    expect(sealed.map((text) => JSON.parse(text ?? ''))).toEqual([{ merchant: 'very-secret' }]);
    expect(stdin.readableLength).toBe(0);
    expect(modes).toEqual([true, false]);
    expect(printed()).toBe(`${question}\nAdded: acme\n`);
  });

  it('swallows the rest of a pasted text until it stops', async () => {
    const { type, stdin, modes, ended } = addGateway();
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

  it('ends with Ctrl-D when the input is not JSON', async () => {
    const { type, sealed, ended } = addGateway();
    await type('{"merchant":\n', 'oops\n', '\u0004');
    expect(await ended).toBe(0);
    expect(sealed).toEqual(['{"merchant":\noops']);
  });

  it.each([
    ['Ctrl-C', ['{"merchant":\n', '\u0003', '"very-secret"}\n']],
    ['Ctrl-D before any input', ['\n', '\u0004']],
  ])('refuses after %s, and swallows the rest', async (_, chunks) => {
    const { type, stdin, modes, printed, sealed, ended } = addGateway();
    await type(...chunks);
    expect(await ended).toBe(1);
    expect(sealed).toEqual([]);
    expect(stdin.readableLength).toBe(0);
    expect(modes).toEqual([true, false]);
    expect(printed()).toBe(`${question}\nNothing was done.\n`);
  });

  it('hides the input when stderr is redirected', async () => {
    const { type, modes, sealed, ended } = addGateway({ stderrIsTty: false });
    // The key Enter sends a carriage return.
    await type('{"a":1}\r');
    expect(modes[0]).toBe(true);
    expect(await ended).toBe(0);
    expect([sealed, modes]).toEqual([['{"a":1}'], [true, false]]);
  });

  it('decodes characters that are split over chunks, and handles backspace', async () => {
    const { type, sealed, ended } = addGateway();
    const bytes = Buffer.from('{"a":"é"x\u007f}\n');
    await type(bytes.subarray(0, 7), bytes.subarray(7));
    expect(await ended).toBe(0);
    expect(sealed).toEqual(['{"a":"é"}']);
  });
});
