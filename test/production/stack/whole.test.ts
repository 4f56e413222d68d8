import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { call } from '../../support/service/console.ts';
import { aFolder, killAll, portsOf, runStack } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const entry = 'stack/main.ts';

/** Runs the demo, which fails unless the payment becomes paid and its signed webhook arrives. */
const buy = (dataDir: string) =>
  promisify(execFile)(process.execPath, ['demo/main.ts', join(dataDir, 'connection.json')], {
    env: readStackConfig().inherited,
    timeout: 60_000,
  });

/** Sends the request of the banner's `curl`. */
const create = async (banner: string): Promise<string> => {
  const [, url = '', flags = '', body = ''] =
    /curl -X POST (\S+)([^]*?) -d '([^']*)'/.exec(banner) ?? [];
  const headers = [...flags.matchAll(/-H '([^:]*): ([^']*)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  );
  const response = await fetch(url, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  return ((await response.json()) as { payment_id: string }).payment_id;
};

const readStatus = async ({ api_base_url, token }: ConnectionFile, id: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${api_base_url}/api/v1/payments/${id}`, { headers });
  return ((await response.json()) as { status: string }).status;
};

/** Opens the console by the link of the banner. */
const logIn = async (banner: string) => {
  const [, port, path = ''] =
    /Console +http:\/\/console\.localhost:(\d+)(\/login\/\S+)/.exec(banner) ?? [];
  const { status, headers } = await call(Number(port), path, { method: 'POST', form: {} });
  expect([status, headers.location]).toEqual([303, '/']);
  const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  const { text } = await call(Number(port), '/', { cookie });
  expect(text).toContain('Payments in 24 hours<strong>1</strong>');
};

it('npm start serves whole purchases, before and after a kill -9 of everything', async () => {
  const dataDir = aFolder();
  const first = runStack({ dataDir, entry });
  const connection = await first.ready();
  await buy(dataDir);
  await logIn(first.output());
  const id = await create(first.output());
  killAll([first.pid, ...first.survivors()]);
  await first.exited;

  const second = runStack({ dataDir, entry, env: portsOf(connection) });
  expect(await second.ready()).toEqual({ ...connection, pid: second.pid });
  expect(await readStatus(connection, id)).toBe('pending');
  // The shop reads its old orders from the service.
  const orders = async () => (await fetch(`${connection.shop_url}/orders`)).text();
  await until('the shop shows its old orders', async () => (await orders()).includes('Paid'));
  await buy(dataDir);

  const stoppedAt = Date.now();
  process.kill(second.pid, 'SIGINT');
  expect(await second.exited).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(15_000);
  expect(second.survivors()).toEqual([]);
});
