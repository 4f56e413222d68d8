import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { parseKeyRing } from '../../../config.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { createTokens } from '../../../postgres/tokens.ts';
import { createWebhookSecrets } from '../../../postgres/webhook-secrets.ts';
import type { ConnectionFacts } from '../../../stack/connection-file.ts';
import { openDataFolder } from '../../../stack/files.ts';
import { identify, isAlive } from '../../../stack/identity.ts';
import { freePort } from '../../../stack/ports.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import { aFolder, portsOf, processesIn, runStack } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const callbackUrlsOf = async ({ database_url, token }: ConnectionFacts) => {
  const sql = connect(database_url, { name: 'test', max: 1 });
  const caller = await createTokens(sql).authenticate(token);
  await sql.end();
  return caller?.callbackUrls;
};

const boxOf = (dataDir: string) =>
  createSecretBox(parseKeyRing(readFileSync(join(dataDir, 'secrets-key'), 'utf8').trim()));

const answers = (url: string) =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  );

const environmentOf = async (url: string) =>
  (await (await fetch(url)).json()) as Record<string, string>;

describe('npm start', () => {
  it('brings everything up, says where, and keeps its secrets to the user', async () => {
    const dataDir = aFolder();
    const stack = runStack({ dataDir });
    const facts = await stack.ready();

    expect(await answers(facts.api_base_url)).toBe(true);
    expect(await answers(facts.shop_url)).toBe(true);
    expect(await answers(facts.temporal_ui_url ?? '')).toBe(true);
    expect(await callbackUrlsOf(facts)).toEqual([`${facts.shop_url}/return`]);
    expect(facts).toMatchObject({ application: 'demo-shop', pid: stack.pid });
    expect(stack.output()).toContain(facts.token);
    for (const name of readdirSync(dataDir))
      expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
  });

  it.each([0o755, 0o700])('leaves a folder that was there as open as it was: %o', (mode) => {
    const folder = aFolder();
    chmodSync(folder, mode);
    openDataFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(mode);
    const made = join(folder, 'new', 'data');
    openDataFolder(made);
    expect(statSync(made).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700);
  });

  it('hands its programs what they need, and nothing of another Temporal', async () => {
    const dataDir = aFolder();
    const env = { TEMPORAL_API_KEY: 'of another server', API_TOKEN: 'not ours' };
    const facts = await runStack({ dataDir, env }).ready();

    const environment = await environmentOf(facts.api_base_url);

    expect(environment).toMatchObject({
      DATABASE_URL: facts.database_url,
      TEMPORAL_ADDRESS: facts.temporal_address,
      PUBLIC_BASE_URL: facts.api_base_url,
      SECRETS_KEY_FILE: join(dataDir, 'secrets-key'),
    });
    expect(environment).not.toHaveProperty('TEMPORAL_API_KEY');
    expect(environment).not.toHaveProperty('API_TOKEN');
    // What a worker is doing when Ctrl-C comes has 5 s to end.
    expect(await environmentOf(facts.worker_metrics_url)).toMatchObject({
      SHUTDOWN_GRACE_SECONDS: '5',
      WORKFLOW_BUNDLE: expect.stringContaining(join(dataDir, 'bundles')),
    });
  });

  it('keeps histories for 30 days, which re-triggering and healing need', async () => {
    const facts = await runStack({ dataDir: aFolder() }).ready();
    const connection = await Connection.connect({ address: facts.temporal_address });
    onTestFinished(() => connection.close());
    const { config } = await connection.workflowService.describeNamespace({
      namespace: facts.temporal_namespace,
    });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 3600);
  });

  it('stops everything on Ctrl-C and comes up again with the same data', async () => {
    const dataDir = aFolder();
    const first = runStack({ dataDir });
    const before = await first.ready();
    const stoppedAt = Date.now();
    process.kill(first.pid, 'SIGINT');
    expect(await first.exited).toBe(0);
    expect(Date.now() - stoppedAt).toBeLessThan(10_000);
    expect(first.survivors()).toEqual([]);

    const after = await runStack({ dataDir }).ready();

    expect(after.token).toBe(before.token);
    expect(after.webhook_secret).toBe(before.webhook_secret);
    // The ports are others, and the demo application knows.
    expect(after.shop_url).not.toBe(before.shop_url);
    expect(await callbackUrlsOf(after)).toEqual([`${after.shop_url}/return`]);
  });

  it('refuses to run twice on the same data', async () => {
    const dataDir = aFolder();
    const first = runStack({ dataDir });
    await first.ready();

    const second = runStack({ dataDir });

    expect(await second.exited).toBe(1);
    expect(second.errors().trim()).toMatch(/^A stack is already running on .+\.$/);
    expect(await answers(first.facts().api_base_url)).toBe(true);
  });

  it.each([
    ['main.ts', 'ending what was left'],
    ['stubborn.ts', 'also where that does not end by itself'],
  ])('comes up on the same ports after a kill -9 (%s), %s', async (entry) => {
    const dataDir = aFolder();
    const killed = runStack({ dataDir, entry: `test/fakes/stack/${entry}` });
    const before = await killed.ready();
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    const orphans = processesIn(dataDir);
    expect(orphans).not.toEqual([]);

    const after = await runStack({ dataDir, env: portsOf(before) }).ready();

    expect(orphans.filter(isAlive)).toEqual([]);
    expect(after).toEqual({ ...before, pid: after.pid });
  });

  it('leaves a process alone that was given the number of one of its own, and starts', async () => {
    const dataDir = aFolder();
    const other = spawn('sleep', ['600']);
    onTestFinished(() => void other.kill());
    const { born } = identify(process.pid);
    for (const name of ['processes.json', 'stack.lock'])
      writeFileSync(join(dataDir, name), JSON.stringify([{ pid: other.pid, born }]));

    await runStack({ dataDir }).ready();

    expect(other.signalCode).toBeNull();
    expect(isAlive(identify(other.pid ?? 0))).toBe(true);
  });

  it.each([
    ['a killed first start never wrote them down', 'connection.json'],
    ['the key that sealed them is lost', 'secrets-key'],
  ])('gives new credentials where %s', async (_, lost) => {
    const dataDir = aFolder();
    const first = runStack({ dataDir });
    const before = await first.ready();
    process.kill(first.pid, 'SIGTERM');
    await first.exited;
    rmSync(join(dataDir, lost));

    const after = await runStack({ dataDir }).ready();

    expect(after.token).not.toBe(before.token);
    expect(after.webhook_secret).not.toBe(before.webhook_secret);
    expect(await callbackUrlsOf(after)).toEqual([`${after.shop_url}/return`]);
  });

  it('hands on a webhook secret that an admin has rotated', async () => {
    const dataDir = aFolder();
    const first = runStack({ dataDir });
    const { database_url: url, webhook_secret: former } = await first.ready();
    const sql = connect(url, { name: 'test', max: 1 });
    const how = { box: boxOf(dataDir), overlap: '0 seconds' };
    const rotated = await createWebhookSecrets(sql).rotate('demo-shop', how);
    await sql.end();
    process.kill(first.pid, 'SIGTERM');
    await first.exited;

    const after = await runStack({ dataDir }).ready();

    expect(after.webhook_secret).toBe(rotated);
    expect(rotated).not.toBe(former);
  });

  it('issues a webhook secret where another key has sealed the one that is in use', async () => {
    const dataDir = aFolder();
    const first = runStack({ dataDir });
    const before = await first.ready();
    process.kill(first.pid, 'SIGTERM');
    await first.exited;
    const otherKey = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(join(dataDir, 'secrets-key'), `k1:${otherKey}`);

    const after = await runStack({ dataDir }).ready();

    expect(after.token).toBe(before.token);
    const sql = connect(after.database_url, { name: 'test', max: 1 });
    const box = boxOf(dataDir);
    const inUse = await createWebhookSecrets(sql).listSealed('demo-shop');
    await sql.end();
    expect(inUse.map((sealed) => box.open(sealed, 'demo-shop'))).toEqual([after.webhook_secret]);
  });

  it('heals by itself when any of its processes is killed', async () => {
    const dataDir = aFolder();
    const stack = runStack({ dataDir });
    const facts = await stack.ready();
    const victims = processesIn(dataDir);
    expect(victims).toHaveLength(5);

    for (const { pid } of victims) process.kill(pid, 'SIGKILL');

    for (const name of ['api', 'worker', 'shop', 'postgres', 'temporal'])
      await stack.says(`${name} is up again`);
    expect(await answers(facts.api_base_url)).toBe(true);
    expect(await answers(facts.temporal_ui_url ?? '')).toBe(true);
    expect(await callbackUrlsOf(facts)).toEqual([`${facts.shop_url}/return`]);
  });

  it('stops with one sentence when something dies again and again', async () => {
    const dataDir = aFolder();
    const stack = runStack({ dataDir });
    const facts = await stack.ready();
    const pidOfShop = async () => Number((await environmentOf(facts.shop_url))['PID']);
    for (let death = 0; death < 6; death += 1) {
      await until('the shop is up', () => answers(facts.shop_url));
      process.kill(await pidOfShop(), 'SIGKILL');
      await until('the shop is down', async () => !(await answers(facts.shop_url)));
    }

    expect(await stack.exited).toBe(1);
    expect(stack.output()).toMatch(/shop ended 6 times within a minute/);
    expect(stack.survivors()).toEqual([]);
  });

  it('uses a Postgres and a Temporal of yours', async () => {
    const folder = aFolder();
    const postgres = await startPostgres({
      dataDir: join(folder, 'postgres'),
      port: await freePort(),
    });
    onTestFinished(postgres.stop);
    const temporal = await startTemporal({
      program: inject('temporalProgram'),
      dbFile: join(folder, 'temporal.db'),
      port: await freePort(),
    });
    onTestFinished(temporal.stop);
    const dataDir = aFolder();
    const env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
    };
    const stack = runStack({ dataDir, env });
    const facts = await stack.ready();

    expect(facts).toMatchObject({ database_url: postgres.url, temporal_ui_url: null });
    expect(processesIn(dataDir)).toHaveLength(3);
    expect(await environmentOf(facts.api_base_url)).toMatchObject(env);
    expect(await callbackUrlsOf(facts)).toEqual([`${facts.shop_url}/return`]);
  });

  it('writes a log for each of its processes', async () => {
    const dataDir = aFolder();
    await runStack({ dataDir }).ready();

    const log = readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8');

    expect(log).toContain('ready to accept connections');
  });
});
