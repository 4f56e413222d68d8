import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { call } from '../../support/service/console.ts';
import {
  type Address,
  oddRequests,
  requestsFor,
  sendAndLeave,
} from '../../support/servers/raw-requests.ts';
import { listeningIn } from '../../support/stack/listening.ts';
import { aFolder, killAll, portsOf, runStack } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const entry = 'stack/main.ts';

/**
 * Runs the demo, which fails unless the payment becomes paid and its signed webhook arrives.
 * @returns its output
 */
const buy = async (dataDir: string): Promise<string> => {
  const line = ['run', 'demo', '--', join(dataDir, 'connection.json')];
  return (await promisify(execFile)('npm', line, { env: readStackConfig().inherited })).stdout;
};

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
  const { text } = await call(Number(port), '/', { cookie: `${cookie}; console-mode=test` });
  expect(text).toContain('Payments in 24 hours<strong>1</strong>');
};

/** Pages of all processes, files and requests that wait for something. Each port has some of them. */
const pathsOf = async (connection: ConnectionFile, id: string): Promise<string[]> => {
  const history = `/api/v1/namespaces/${connection.temporal_namespace}/workflows/${id}/history`;
  const first = await fetch(`${connection.temporal_ui_url}${history}?waitNewEvent=true`);
  const { nextPageToken } = (await first.json()) as { nextPageToken: string };
  return [
    `${history}?waitNewEvent=true&nextPageToken=${encodeURIComponent(nextPageToken)}`,
    ...['/', '/events', '/orders', '/payments', '/payments/file', '/accounts/file', '/metrics'],
    ...['/readyz', '/api/v1/docs', '/api/v1/openapi.json', '/api/v1/payments?per_page=100'],
    ...['/api/v1/events?order=asc', `/api/v1/payments/${id}/checkout`],
    ...['/api/v1/namespaces', `/api/v1/namespaces/${connection.temporal_namespace}/workflows`],
  ];
};

/** 200 and more to one port, some at once. A client leaves at many moments, and without a word half of the time. */
const strain = async (address: Address, paths: string[], token: string) => {
  const host = `${address.host}:${address.port}`;
  const requests = [
    ...requestsFor(host, paths, { Authorization: `Bearer ${token}` }),
    ...oddRequests(host),
  ];
  const all = [0, 15, 60].flatMap((after) => requests.map((bytes) => ({ after, bytes })));
  for (let start = 0; start < all.length; start += 20)
    await Promise.all(
      all
        .slice(start, start + 20)
        .map(({ after, bytes }, index) =>
          sendAndLeave(address, bytes, { after, reset: index % 2 === 0 }),
        ),
    );
  return all.length;
};

const askAs = (address: Address, name: string) => {
  const path = '/api/v1/namespaces/default/workflows';
  const [bytes = ''] = requestsFor(name, [path], { Connection: 'close' });
  return sendAndLeave(address, bytes, { after: 5_000, reset: false });
};

/** Only Linux says which ports they are. */
const isKnowable = process.platform === 'linux';

/** Sends broken and abandoned requests to each port, and asks each for workflows under another name. */
const outlive = async (stack: ReturnType<typeof runStack>, connection: ConnectionFile) => {
  const processes = stack.survivors();
  const ports = listeningIn([stack.pid, ...processes]);
  const known = Object.values(portsOf(connection)).map(Number);
  expect(ports.map(({ port }) => port)).toEqual(expect.arrayContaining(known));
  const id = await create(stack.output());
  const paths = await pathsOf(connection, id);

  const sent = await Promise.all(ports.map((port) => strain(port, paths, connection.token)));
  expect(Math.min(...sent)).toBeGreaterThan(200);

  expect(stack.errors()).toBe('');
  expect(stack.survivors()).toEqual(processes);

  const door = new URL(connection.temporal_ui_url ?? '').host;
  const isDoor = ({ host, port }: Address) => `${host}:${port}` === door;
  // The UI itself is at one of 16 million addresses, where no page finds it.
  for (const address of ports.filter((each) => each.host === '127.0.0.1' && !isDoor(each)))
    for (const name of ['evil.example', `127.0.0.1:${address.port}`])
      expect(await askAs(address, name)).not.toContain(id);
  expect(await askAs(ports.find(isDoor)!, 'evil.example')).not.toContain(id);
  expect(await askAs(ports.find(isDoor)!, door)).toContain(id);
};

it('npm start serves whole purchases, after broken requests to each of its ports, and after a kill -9 of everything', async () => {
  const dataDir = aFolder();
  const first = runStack({ dataDir, entry });
  const connection = await first.ready();
  const output = await buy(dataDir);
  expect(output).toMatch(/POST http\S+\/api\/v1\/payments\n/);
  expect(output).toMatch(/302 → http\S+\/api\/v1\/sandbox\/PAY_/);
  expect(output).toContain('✓ The payment is paid.');
  expect(output).toMatch(/x-service-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(output).toContain('{"event":"payment.paid"');
  expect(output).toContain('✓ The signature is valid');
  expect(output).not.toContain(connection.token);
  // No colours in a pipe.
  expect(output).not.toContain('\u001B[');
  await logIn(first.output());
  if (isKnowable) await outlive(first, connection);
  const id = await create(first.output());
  killAll([first.pid, ...first.survivors()]);
  await first.exited;

  const second = runStack({ dataDir, entry, env: portsOf(connection) });
  // Nobody else uses the port of the mailbox, so it is another one each time.
  const again = await second.ready();
  expect(again).toEqual({ ...connection, pid: second.pid, smtp_port: again.smtp_port });
  expect(await readStatus(connection, id)).toBe('pending');
  // The shop reads its old orders from the service.
  const orders = async () => (await fetch(`${connection.shop_url}/orders`)).text();
  await until('the shop shows its old orders', async () => (await orders()).includes('Paid'));
  await buy(dataDir);

  const stoppedAt = Date.now();
  process.kill(second.pid, 'SIGINT');
  expect(await second.exited).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(60_000);
  expect(second.survivors()).toEqual([]);
});
