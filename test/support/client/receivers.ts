import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../stack/ports.ts';
import { watchProgram } from '../stack/output.ts';
import { until } from '../until.ts';
import { programs } from './readme.ts';
import { runProgram } from './run-program.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * Writes the programs of the README into an application that has the client, with the packages that it would install
 * beside it, and compiles them into its folder `compiled`.
 * @returns the output of the compiler
 */
export const writePrograms = (application: string, module = 'nodenext'): string => {
  writeFileSync(join(application, 'package.json'), '{"type":"module"}');
  for (const name of ['express', 'koa', 'hono', 'postgres', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(application, 'node_modules', name));
  for (const [name, program] of Object.entries(programs))
    writeFileSync(join(application, name), program);
  return compile(application, module);
};

/** Compiles as strictly as an application may, and as Node resolves modules. */
export const compile = (application: string, module: string): string => {
  const compilerOptions = {
    target: 'es2022',
    module,
    types: ['node'],
    strict: true,
    checkJs: true,
    outDir: 'compiled',
    skipLibCheck: true,
  };
  const include = Object.keys(programs);
  writeFileSync(join(application, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  return runProgram('typescript/bin/tsc', ['-p', application]);
};

/** The port that the pages name, replaced by one that is free. */
const onPort = (file: string, port: number): void =>
  writeFileSync(file, readFileSync(file, 'utf8').replace('8080', String(port)));

export interface StartedReceiver {
  url: string;
  output: () => string;
  /** The most memory that it ever had, in bytes. */
  peak: () => number;
  stop: () => Promise<void>;
}

/** Runs a program that receives webhooks on this port. */
export const runReceiver = async (
  node: string,
  args: string[],
  { port, env = {}, cwd }: { port: number; env?: Record<string, string>; cwd?: string },
): Promise<StartedReceiver> => {
  const child = spawn(node, args, { env, cwd });
  const { output, exited } = watchProgram(child);
  const url = `http://127.0.0.1:${port}/webhook`;
  await until('the receiver answers', async () => {
    if (child.exitCode !== null) throw new Error(`The receiver ended:\n${output()}`);
    return fetch(url, { method: 'POST' }).then(
      () => true,
      () => false,
    );
  });
  return {
    url,
    output,
    peak: () =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) *
      1024,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

/** Runs one receiver of the README: as it stands, or compiled for a Node that reads no TypeScript. */
export const runRecipe = async (
  application: string,
  { name, node, secret }: { name: string; node: string; secret: string },
): Promise<StartedReceiver> => {
  const port = await freePort();
  const isOfThisNode = node === process.execPath;
  const file = isOfThisNode
    ? join(application, name)
    : join(application, 'compiled', name.replace('.ts', '.js'));
  const isForWeb = name === 'next.ts' || name === 'hono.ts';
  if (!isForWeb) onPort(file, port);
  const args = isForWeb
    ? [join(root, 'test/fakes/client/serve-web.mjs'), file, String(port)]
    : [file];
  return runReceiver(node, args, { port, env: { WEBHOOK_SECRET: secret } });
};

export interface Post {
  body: Uint8Array;
  /** How often the body is sent, one piece after another. */
  times?: number;
  signature?: string | undefined;
  /** Announces no length. */
  inChunks?: boolean;
  /** False: the sender says nothing more, and waits for the answer. */
  ends?: boolean;
}

/**
 * Posts as a proxy would, over a connection that stays open, and holds none of it. Node's own client would stop in the
 * middle of a long body that is answered early. @returns the status
 */
export const postTo = async (
  url: string,
  { body, times = 1, signature, inChunks = false, ends = true }: Post,
): Promise<number> => {
  const { host, port, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => {}); // It closes, too.
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  const statusOf = () => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
  const write = async (piece: string | Uint8Array) => {
    if (socket.destroyed || socket.write(piece)) return;
    await Promise.race([new Promise((resolve) => void socket.once('drain', resolve)), closed]);
  };
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    inChunks ? 'transfer-encoding: chunked' : `content-length: ${body.length * times}`,
    ...(signature === undefined ? [] : [`x-service-signature: ${signature}`]),
  ];
  try {
    await write(`${head.join('\r\n')}\r\n\r\n`);
    const isEmpty = body.length === 0;
    for (let piece = 0; piece < times && !isEmpty; piece += 1) {
      if (inChunks) await write(`${body.length.toString(16)}\r\n`);
      await write(body);
      if (inChunks) await write('\r\n');
    }
    if (inChunks && ends) await write('0\r\n\r\n');
    return await until('the receiver answers', () => {
      if (socket.destroyed && !statusOf())
        throw new Error('The connection broke without an answer.');
      return statusOf();
    });
  } finally {
    socket.destroy();
  }
};
