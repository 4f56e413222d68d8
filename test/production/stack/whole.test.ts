import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFacts } from '../../../stack/connection-file.ts';
import { until } from '../../support/until.ts';
import { aFolder, portsOf, processesIn, runStack } from '../../support/stack/support.ts';

const entry = 'stack/main.ts';

/** Fails when the payment does not become paid, or its signed webhook does not arrive. */
const buy = (dataDir: string) =>
  promisify(execFile)(process.execPath, ['demo/main.ts', join(dataDir, 'connection.json')], {
    env: readStackConfig().inherited,
    timeout: 60_000,
  });

/** Does what the `curl` of the banner does. */
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

const statusOf = async ({ api_base_url, token }: ConnectionFacts, id: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${api_base_url}/api/v1/payments/${id}`, { headers });
  return ((await response.json()) as { status: string }).status;
};

describe('npm start with the real programs', () => {
  it('serves a whole purchase, heals, and goes on after a kill -9 of everything', async () => {
    const dataDir = aFolder();
    const first = runStack({ dataDir, entry });
    const facts = await first.ready();
    await buy(dataDir);

    for (const { pid } of processesIn(dataDir)) process.kill(pid, 'SIGKILL');
    for (const name of ['api', 'worker', 'shop', 'postgres', 'temporal'])
      await first.says(`${name} is up again`);
    await buy(dataDir);

    const id = await create(first.output());
    for (const pid of [first.pid, ...first.survivors()]) process.kill(pid, 'SIGKILL');
    await first.exited;
    const second = runStack({ dataDir, entry, env: portsOf(facts) });
    expect(await second.ready()).toEqual({ ...facts, pid: second.pid });
    expect(await statusOf(facts, id)).toBe('pending');
    // The shop forgets; the service does not.
    const orders = async () => (await fetch(`${facts.shop_url}/orders`)).text();
    await until('the shop knows its old orders', async () => (await orders()).includes('Paid'));
    await buy(dataDir);

    const stoppedAt = Date.now();
    process.kill(second.pid, 'SIGINT');
    expect(await second.exited).toBe(0);
    expect(Date.now() - stoppedAt).toBeLessThan(10_000);
    expect(second.survivors()).toEqual([]);
  }, 300_000);
});
