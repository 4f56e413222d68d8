import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connect } from '../../../postgres/driver/connection.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { freePort } from '../../../stack/ports.ts';
import { startPostgres } from '../../../stack/postgres.ts';
import { commandLineOf, startTimeOf } from '../../../stack/system-processes.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import {
  aFolder,
  portsOf,
  prepare,
  processesIn,
  runStack,
  type StackSettings,
  writeProgram,
} from '../../support/stack/support.ts';

const readCallbackUrls = async ({ database_url, token }: ConnectionFile) => {
  const sql = connect(database_url, { name: 'test', max: 1 });
  const caller = await createTokens(sql).authenticate(token);
  await sql.end();
  return caller?.callbackUrls;
};

const answers = (url: string | null) =>
  fetch(url ?? '').then(
    (response) => response.ok,
    () => false,
  );

const environmentOf = async (url: string) =>
  (await (await fetch(url)).json()) as Record<string, string>;

const readRetentionDays = async (connection: ConnectionFile) => {
  const temporal = await Connection.connect({ address: connection.temporal_address });
  const { config } = await temporal.workflowService.describeNamespace({
    namespace: connection.temporal_namespace,
  });
  await temporal.close();
  return Number(config?.workflowExecutionRetentionTtl?.seconds) / (24 * 3600);
};

/** New files are readable for everybody. */
const underUsualUmask: StackSettings['command'] = [
  '/bin/sh',
  '-c',
  `umask 022; exec ${process.execPath} test/fakes/stack/main.ts`,
];

describe('npm start', () => {
  it('brings everything up, prints the addresses, and keeps its files private', async () => {
    const dataDir = aFolder();
    const env = { TEMPORAL_API_KEY: 'for another server', API_TOKEN: 'not ours' };
    const stack = runStack({ dataDir, env, command: underUsualUmask });
    const connection = await stack.ready();

    expect(await answers(connection.shop_url)).toBe(true);
    const paymentsInUi = /^  Temporal UI {3}(\S+)$/m.exec(stack.output())?.[1];
    expect(paymentsInUi).toContain(`${connection.temporal_ui_url}/namespaces/default/workflows?`);
    expect(await answers(paymentsInUi ?? null)).toBe(true);
    expect(await readCallbackUrls(connection)).toEqual([`${connection.shop_url}/return`]);
    expect(connection).toMatchObject({ application: 'demo-shop', pid: stack.pid });
    expect(stack.output()).toContain(connection.token);
    for (const name of readdirSync(dataDir))
      expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
    const log = readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8');
    expect(log).toContain('ready to accept connections');
    // Replaying and healing need the histories.
    expect(await readRetentionDays(connection)).toBe(30);

    const environment = await environmentOf(connection.api_base_url);
    expect(environment).toMatchObject({
      DATABASE_URL: connection.database_url,
      TEMPORAL_ADDRESS: connection.temporal_address,
      PUBLIC_BASE_URL: connection.api_base_url,
      NOTIFICATIONS_KEY_FILE: join(dataDir, 'notifications-key'),
      PAYERS_KEY_FILE: join(dataDir, 'payers-key'),
    });
    // It opens no gateway credentials.
    expect(environment).not.toHaveProperty('SECRETS_KEY_FILE');
    expect(environment).not.toHaveProperty('TEMPORAL_API_KEY');
    expect(environment).not.toHaveProperty('API_TOKEN');
    expect(await environmentOf(connection.worker_metrics_url)).toMatchObject({
      SECRETS_KEY_FILE: join(dataDir, 'secrets-key'),
      PAYERS_KEY_FILE: join(dataDir, 'payers-key'),
      WEBHOOKS_KEY_FILE: join(dataDir, 'webhooks-key'),
      SHUTDOWN_GRACE_SECONDS: '5',
      WORKFLOW_BUNDLE: expect.stringContaining(join(dataDir, 'bundles')),
    });
  });

  it("leaves the user's umask to the tools that it runs, which fill the user's caches", async () => {
    const [dataDir, bin] = [prepare(aFolder()), aFolder()];
    writeProgram(join(bin, 'go'), [
      `[ "$1" = version ] && echo 'go version go1.26.10 linux/amd64' && exit`,
      `: > ${bin}/cached; exit 1`,
    ]);
    const env = { PATH: bin, CACHE_DIR: aFolder(), TEMPORAL_CLI_PATH: '' };
    const stack = runStack({ dataDir, env, command: underUsualUmask });
    expect(await stack.exited).toBe(1);
    expect(statSync(join(bin, 'cached')).mode & 0o777).toBe(0o644);
  });

  it('refuses to run twice, stops everything of its own on Ctrl-C, and the next start has the same data', async () => {
    const dataDir = prepare(aFolder());
    const other = spawn('sleep', ['600']);
    onTestFinished(() => void other.kill());
    // It has the id of a process of an earlier start.
    const earlier = { name: 'temporal', pid: other.pid, startedAt: '1' };
    writeFileSync(join(dataDir, 'processes.json'), JSON.stringify([earlier]));
    const first = runStack({ dataDir });
    const before = await first.ready();
    const twin = runStack({ dataDir });
    expect(await twin.exited).toBe(1);
    expect(twin.errors().trim()).toMatch(/^A stack is already running on .+\.$/);
    expect(await answers(before.api_base_url)).toBe(true);
    const stoppedAt = Date.now();
    process.kill(first.pid, 'SIGINT');
    expect(await first.exited).toBe(0);
    expect(Date.now() - stoppedAt).toBeLessThan(60_000);
    expect(first.survivors()).toEqual([]);
    expect(commandLineOf(other.pid ?? 0)).toContain('sleep');
    expect(other.signalCode).toBeNull();

    const after = await runStack({ dataDir }).ready();

    expect(after.token).toBe(before.token);
    expect(after.webhook_secret).toBe(before.webhook_secret);
    expect(after.shop_url).not.toBe(before.shop_url);
    expect(await readCallbackUrls(after)).toEqual([`${after.shop_url}/return`]);
  });

  it('ends with one line when one of its processes is killed, and the next start works', async () => {
    const dataDir = prepare(aFolder());
    let env: Record<string, string> = {};
    for (const victim of ['worker', 'postgres', 'temporal']) {
      const stack = runStack({ dataDir, env });
      env = portsOf(await stack.ready());
      for (const { name, pid } of processesIn(dataDir))
        if (name === victim) process.kill(pid, 'SIGKILL');

      expect(await stack.exited).toBe(1);
      expect(stack.errors()).toMatch(
        new RegExp(`^${victim} ended with SIGKILL; see .*${victim}\\.log; run npm start again\n$`),
      );
      expect(stack.survivors()).toEqual([]);
    }
  });

  it('starts on the same ports after a kill -9, and ends what was left and does not stop', async () => {
    const dataDir = prepare(aFolder());
    const killed = runStack({ dataDir, entry: 'test/fakes/stack/stubborn.ts' });
    const before = await killed.ready();
    process.kill(killed.pid, 'SIGKILL');
    await killed.exited;
    const orphans = processesIn(dataDir);
    expect(orphans.map(({ name }) => name)).toContain('postgres');

    // It gives them the 10 s that every process of a stack has, and they take all of it.
    const after = await runStack({ dataDir, env: portsOf(before) }).ready();

    expect(orphans.filter(({ pid, startedAt }) => startTimeOf(pid) === startedAt)).toEqual([]);
    // Nobody else uses the port of the mailbox, so it is another one each time.
    expect(after).toEqual({ ...before, pid: after.pid, smtp_port: after.smtp_port });
  });

  it("uses the user's own Postgres and Temporal", async () => {
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
    const dataDir = prepare(aFolder());
    const env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'default',
    };

    const connection = await runStack({ dataDir, env }).ready();

    expect(connection).toMatchObject({ database_url: postgres.url, temporal_ui_url: null });
    expect(processesIn(dataDir)).toHaveLength(4);
    expect(await environmentOf(connection.api_base_url)).toMatchObject(env);
    expect(await readCallbackUrls(connection)).toEqual([`${connection.shop_url}/return`]);
  });
});
