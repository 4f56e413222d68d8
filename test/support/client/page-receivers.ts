import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { findGo } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { readProjectFile } from '../checks/project-files.ts';
import { orderTransitions, type Transition } from './order-transitions.ts';
import { runReceiver, type StartedReceiver } from './receivers.ts';
import { useShops } from './shops.ts';

/** A receiver of docs/first-payment.md, and of its shops. */
export interface PageReceiver {
  receiver: string;
  /** False: a server in front of it has read the whole body before it starts. */
  readsItself: boolean;
  /** @throws MissingProgram where its language is not there */
  find: () => Promise<(secret: string | undefined) => Promise<StartedReceiver>>;
}

/**
 * The receivers of docs/first-payment.md, for the tests of a file: those of the shops, and the ones without a shop.
 * @param application a folder that has the client package
 */
export const usePageReceivers = (application: string): PageReceiver[] => {
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

  return [
    {
      receiver: 'webhook-receiver.ts of docs/first-payment.md',
      readsItself: true,
      find: async () => withArguments(process.execPath, withOrders('webhook-receiver.ts')),
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
    ...useShops(application).map(({ file, language, find }) => ({
      receiver: `${file} of docs/first-payment/${language}.md`,
      // In front of PHP a web server reads the whole body, and limits it.
      readsItself: !file.endsWith('.php'),
      async find() {
        const make = await find();
        return async (secret: string | undefined) => {
          // The port is closed: the shop goes on without the events that it missed.
          const paymentsUrl = 'http://127.0.0.1:9';
          const shop = await make({ secret, token: `svc_test_${'x'.repeat(43)}`, paymentsUrl });
          const started = await shop.start();
          shop.write(insertOrders());
          return started;
        };
      },
    })),
  ];
};

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

/** The orders of the table, for a shop that has a database. */
const insertOrders = (): string =>
  orderTransitions
    .map(
      ({ order: { id, status, payment } }) =>
        `insert into orders (id, status, amount, currency, test, payment_id)
         values ('${id}', '${status}', 1250, 'EUR', false, '${payment}');`,
    )
    .join('\n');
