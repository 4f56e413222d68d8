import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import {
  findOnPath,
  MissingProgram,
  outputOf,
  thisMachine,
} from '../../../stack/programs/machine.ts';
import { listenForTest } from '../servers/listen.ts';
import { findPythonPackages } from './python-packages.ts';
import { runReceiver, type StartedReceiver } from './receivers.ts';

const root = join(import.meta.dirname, '../../..');

/** The programs of a shop of docs/first-payment. */
interface Program {
  env: Record<string, string>;
  /** The arguments of the server on this port, and of a command. */
  serve: (port: number) => string[];
  command: string[];
}

interface Order {
  id: string;
  status: string;
  payment_id: string;
}

/** One shop of docs/first-payment in a folder of its own. */
export interface Shop {
  /** Without a path. */
  url: string;
  start: () => Promise<StartedReceiver>;
  /** Runs `catch-up`, or `refund ORDER`. @returns what it prints */
  run: (...args: string[]) => Promise<string>;
  /** The order, as its table has it. */
  order: (id: string) => Order | undefined;
  write: (sql: string) => void;
}

interface Files {
  /** Of none there is no file. */
  secret: string | undefined;
  token: string;
  paymentsUrl: string;
  /** A free one by default. */
  port?: number;
}

export interface ShopOfLanguage {
  language: 'typescript' | 'python' | 'php' | 'laravel';
  file: string;
  /** @throws MissingProgram where its language is not there */
  find: () => Promise<(files: Files) => Promise<Shop>>;
}

/** @throws MissingProgram without PHP 8, or without a part of it. @param isThere in PHP */
const findPhp = async (packages: string, isThere = 'true'): Promise<string> => {
  const machine = thisMachine();
  const [php] = findOnPath('php', machine);
  const check = `echo version_compare(PHP_VERSION, '8.0') >= 0 && extension_loaded('pdo_sqlite') && ${isThere} ? 'yes' : 'no';`;
  if (!php || (await outputOf(php, ['-r', check], machine)) !== 'yes')
    throw new MissingProgram(`PHP 8 is missing, or a part of it: apt-get install ${packages}`);
  return php;
};

/** As where there is no php.ini: what PHP prints begins the answer. */
const phpServer = (script: string) => (port: number) => [
  ...['-d', 'display_errors=1', '-d', 'output_buffering=0'],
  ...['-S', `127.0.0.1:${port}`, script],
];

/**
 * The shops of docs/first-payment, for the tests of a file.
 * @param application a folder that has the client package
 */
export const useShops = (application: string): ShopOfLanguage[] => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-shops-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const { inherited } = thisMachine();

  const shopIn = (file: string, command: string, program: Program) => async (files: Files) => {
    const place = mkdtempSync(join(folder, 'shop-'));
    const write = (name: string, text: string) => writeFileSync(join(place, name), text);
    copyFileSync(join(root, 'docs/first-payment', file), join(place, file));
    write('package.json', '{"type":"module"}');
    symlinkSync(join(application, 'node_modules'), join(place, 'node_modules'));
    if (files.secret !== undefined) write('webhook-secret', `${files.secret}\n`);
    write('token', `${files.token}\n`);
    const { port = await freePort() } = files;
    const settings = { PAYMENTS_URL: files.paymentsUrl, PORT: String(port) };
    const options = { cwd: place, env: { ...inherited, ...program.env, ...settings } };
    const database = () => new DatabaseSync(join(place, 'shop.sqlite'), { timeout: 30_000 });
    const shop: Shop = {
      url: `http://127.0.0.1:${port}`,
      start: () => runReceiver(command, program.serve(port), { port, ...options }),
      async run(...args) {
        return (await promisify(execFile)(command, [...program.command, ...args], options)).stdout;
      },
      order(id) {
        const opened = database();
        const row: unknown = opened.prepare('select * from orders where id = ?').get(id);
        opened.close();
        return row as Order | undefined;
      },
      write(sql) {
        const opened = database();
        opened.exec(sql);
        opened.close();
      },
    };
    return shop;
  };

  return [
    {
      language: 'typescript',
      file: 'shop.ts',
      find: async () =>
        shopIn('shop.ts', process.execPath, {
          env: {},
          serve: () => ['shop.ts'],
          command: ['shop.ts'],
        }),
    },
    {
      language: 'python',
      file: 'shop.py',
      async find() {
        const lock = join(root, 'test/fakes/client/flask.txt');
        const { python, packages } = await findPythonPackages(lock);
        const env = { PYTHONPATH: packages };
        return shopIn('shop.py', python, { env, serve: () => ['shop.py'], command: ['shop.py'] });
      },
    },
    {
      language: 'php',
      file: 'shop.php',
      async find() {
        const php = await findPhp('php-cli php-sqlite3');
        const program = { env: {}, serve: phpServer('shop.php'), command: ['shop.php'] };
        return shopIn('shop.php', php, program);
      },
    },
    {
      language: 'laravel',
      file: 'shop-laravel.php',
      async find() {
        const php = await findPhp(
          'php-cli php-sqlite3 php-laravel-framework php-guzzlehttp-guzzle',
          ['Illuminate/Foundation/Application.php', 'GuzzleHttp/autoload.php']
            .map((part) => `stream_resolve_include_path('${part}')`)
            .join(' && '),
        );
        const [file, env] = ['shop-laravel.php', {}];
        return shopIn(file, php, { env, serve: phpServer(file), command: [file] });
      },
    },
  ];
};

export interface Forwarded {
  headers: Record<string, string>;
  body: Buffer;
  /** Undefined when the shop has not answered. */
  status: number | undefined;
}

/** Stands in front of a shop's webhook: a test sees each request, sends it again, and lets the shop's answer get lost. */
export const startFront = async (target: string) => {
  const forwarded: Forwarded[] = [];
  let instead: ((sent: Forwarded) => Promise<unknown>) | undefined;
  const forward = async (sent: Pick<Forwarded, 'headers' | 'body'>): Promise<number | undefined> =>
    fetch(target, { method: 'POST', headers: sent.headers, body: sent.body }).then(
      ({ status }) => status,
      () => undefined,
    );
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      const sent: Forwarded = { headers: ownHeaders(request.headers), body, status: undefined };
      forwarded.push(sent);
      if (instead) {
        await instead(sent);
        response.destroy();
        return;
      }
      sent.status = await forward(sent);
      if (sent.status === undefined) response.destroy();
      else response.writeHead(sent.status).end();
    });
  });
  const port = await listenForTest(server);
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    /** Sends a request again, byte for byte. */
    forward,
    /** The requests about a payment, oldest first. */
    of: (paymentId: string) => forwarded.filter(({ body }) => body.includes(paymentId)),
    /** Does this with each request, which gets no answer; without an argument the shop answers again. */
    answerNothing(does?: (sent: Forwarded) => Promise<unknown>) {
      instead = does;
    },
  };
};

const ownHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(?:x-service-.+|content-type|user-agent)$/.test(name) ? [[name, String(value)]] : [],
    ),
  );
