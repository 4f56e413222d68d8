import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { packAndInstall } from '../../support/client/install.ts';
import { aClient, json, token } from '../../support/client/scripted-server.ts';

const { application } = packAndInstall();
const dist = join(application, 'node_modules/@example/payments/dist');
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string };

/** The worker: it calls the service with its own fetch and with a given one, and verifies a webhook. */
const worker = (baseUrl: string) => `
  import { Payments, webhooks } from './index.js';
  const settings = { token: '${token}', baseUrl: '${baseUrl}', maxRetries: 0 };
  export default {
    async fetch() {
      const [own, given] = await Promise.all(
        [settings, { ...settings, fetch }].map((each) =>
          new Payments(each).me().then(({ application }) => application, String),
        ),
      );
      const body = '{"event":"payment.paid"}', secret = 'whsec_abc';
      const signature = await webhooks.sign({ body, secret });
      const { event } = await webhooks.verify({ body, secret, signature });
      return Response.json({ own, given, event });
    },
  };`;

/** Starts the worker with the modules of the package, and returns its port. */
const start = async (code: string): Promise<number> => {
  writeFileSync(join(dist, 'worker.js'), code);
  const names = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const modules = ['worker.js', ...names.filter((name) => name !== 'worker.js')];
  const config = join(dist, 'workerd.capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "internet", network = (allow = ["private", "local"])),
        (name = "main", worker = (
          compatibilityDate = "2025-01-01",
          modules = [${modules.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(', ')}]
        ))
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
    );`,
  );
  const child = spawn(workerd, ['serve', '--control-fd=3', config], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  onTestFinished(async () => {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });
  // It writes a line for each socket that listens.
  const [line] = (await once(createInterface({ input: child.stdio[3] as never }), 'line')) as [
    string,
  ];
  return (JSON.parse(line) as { port: number }).port;
};

it('the package runs in a worker at the edge, with its own fetch and with a given one', async () => {
  const { url } = await aClient([json(200, { application: 'shop', token_mode: 'test' })]);
  const port = await start(worker(url));
  const response = await fetch(`http://127.0.0.1:${port}`);
  expect(await response.json()).toEqual({ own: 'shop', given: 'shop', event: 'payment.paid' });
});
