import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { findGo } from '../../../stack/programs/go.ts';
import {
  findOnPath,
  MissingProgram,
  outputOf,
  thisMachine,
} from '../../../stack/programs/machine.ts';
import { readProjectFile } from '../checks/project-files.ts';
import { orderTransitions, type Transition } from './order-transitions.ts';
import { runReceiver, type StartedReceiver } from './receivers.ts';

const root = join(import.meta.dirname, '../../..');

/** A receiver of docs/first-payment.md. */
export interface PageReceiver {
  receiver: string;
  /** False: a server in front of it has read the whole body before it starts. */
  readsItself: boolean;
  /** @throws MissingProgram where its language is not there */
  find: () => Promise<(secret: string | undefined) => Promise<StartedReceiver>>;
}

/** The receivers of docs/first-payment.md, for the tests of a file: in TypeScript, Python, Go and PHP, and for Laravel. */
export const usePageReceivers = (): PageReceiver[] => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-page-receivers-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const machine = thisMachine();
  const { inherited } = machine;

  /** The file of a secret; of none there is no file. */
  const secretFileOf = (secret: string | undefined) => {
    const file = join(mkdtempSync(join(folder, 'secret-')), 'webhook-secret');
    if (secret !== undefined) writeFileSync(file, `${secret}\n`);
    return file;
  };
  /** A receiver of the page, which has the orders of the table, too. */
  const withOrders = (name: string): string => {
    const file = join(folder, name);
    writeFileSync(file, addOrders(readProjectFile(`docs/${name}`)));
    return file;
  };
  /** Starts a program with the file of the secret and the port. */
  const withArguments =
    (command: string, ...before: string[]) =>
    async (secret: string | undefined) => {
      const port = await freePort();
      const args = [...before, secretFileOf(secret), String(port)];
      return runReceiver(command, args, { port, env: inherited });
    };

  const ofPhp = (script: string, packages: string, isThere: string) => async () => {
    const [php] = findOnPath('php', machine);
    const check = `echo version_compare(PHP_VERSION, '8.0') >= 0 && extension_loaded('pdo_sqlite') && ${isThere} ? 'yes' : 'no';`;
    if (!php || (await outputOf(php, ['-r', check], machine)) !== 'yes')
      throw new MissingProgram(`PHP 8 is missing, or a part of it: apt-get install ${packages}`);
    return async (secret: string | undefined) => {
      const port = await freePort();
      const file = secretFileOf(secret);
      const database = `${file}.sqlite`;
      aShop(database);
      const env = {
        ...inherited,
        WEBHOOK_SECRET_FILE: file,
        DATABASE: `sqlite:${database}`,
        DATABASE_FILE: database,
      };
      // As where there is no php.ini: what PHP prints begins the answer.
      const noIni = ['-d', 'display_errors=1', '-d', 'output_buffering=0'];
      const args = [...noIni, '-S', `127.0.0.1:${port}`, join(root, script)];
      return runReceiver(php, args, { port, env });
    };
  };

  return [
    {
      receiver: 'webhook-receiver.ts of docs/first-payment.md',
      readsItself: true,
      find: async () => withArguments(process.execPath, withOrders('webhook-receiver.ts')),
    },
    {
      receiver: 'webhook-receiver.py of docs/first-payment.md',
      readsItself: true,
      async find() {
        const [python] = findOnPath('python3', machine);
        if (!python) throw new MissingProgram('python3 is missing');
        return withArguments(python, withOrders('webhook-receiver.py'));
      },
    },
    {
      receiver: 'webhook-receiver.go of docs/first-payment.md',
      readsItself: true,
      async find() {
        const go = await findGo(machine);
        const program = join(folder, 'receiver');
        const args = ['build', ...go.flags, '-o', program, withOrders('webhook-receiver.go')];
        execFileSync(go.command, args, { env: { ...go.env, CGO_ENABLED: '0' }, stdio: 'pipe' });
        return withArguments(program);
      },
    },
    {
      receiver: 'webhook-receiver.php of docs/first-payment.md',
      readsItself: false,
      find: ofPhp('docs/webhook-receiver.php', 'php-cli php-sqlite3', 'true'),
    },
    {
      receiver: 'webhook-receiver-laravel.php of docs/first-payment.md',
      readsItself: false,
      find: ofPhp(
        'test/fakes/client/laravel.php',
        `php-cli php-sqlite3 ${laravel.map((part) => `php-illuminate-${part.toLowerCase()}`).join(' ')}`,
        laravel
          .map((part) => `stream_resolve_include_path('Illuminate/${part}/autoload.php')`)
          .join(' && '),
      ),
    },
  ];
};

const laravel = ['Config', 'Database', 'Events', 'Http', 'Routing'];

/** Repeats the line of the page's order for each order of the table. */
const addOrders = (program: string): string => {
  const [line = ''] = /^.*order-1042.*\n/m.exec(program) ?? [];
  const of = ({ order: { id, status, payment } }: Transition) =>
    line
      .replace('order-1042', id)
      .replace('pending', status)
      .replace(/(['"])\1/, `$1${payment}$1`);
  return program.replace(line, [line, ...orderTransitions.map(of)].join(''));
};

/** The tables of the page, with the orders that the other receivers have in their memory. */
const aShop = (file: string): void => {
  const tables = /```sql\n( *create table [^]*?)```/.exec(
    readProjectFile('docs/first-payment.md'),
  )?.[1];
  if (!tables) throw new Error('docs/first-payment.md has no tables');
  const database = new DatabaseSync(file);
  database.exec(addOrders(tables));
  database.close();
};
