import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { compileCache } from '../support/runner/compile-cache.ts';
import { startFailingTemporal } from '../support/servers/failing-temporal.ts';
import { emptyMessage } from '../support/servers/grpc.ts';
import { aDatabase } from '../support/data/database.ts';
import { startRecords } from '../support/data/records.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { forFile } from '../support/for-file.ts';

const { ListWorkflowExecutionsResponse } = proto.temporal.api.workflowservice.v1;
const ids = ['a', 'b', 'c', 'd'];
const answers = {
  GetSystemInfo: emptyMessage,
  CountWorkflowExecutions: emptyMessage,
  ListWorkflowExecutions: ListWorkflowExecutionsResponse.encode({
    executions: ids.map((id) => ({
      execution: { workflowId: id, runId: id },
      type: { name: 'payment' },
      status: 1,
      startTime: msToTs(1),
    })),
  }).finish(),
};

const records = await forFile(startRecords());
const temporal = await startFailingTemporal(answers);
afterAll(async () => {
  temporal?.stop();
});

const run = async (line: string[], env: Record<string, string>) => {
  const [entry = '', ...args] = line;
  const path = join(import.meta.dirname, '../..', entry);
  const child = spawn(process.execPath, [path, ...args], {
    env: {
      DATABASE_URL: records.url,
      TEMPORAL_ADDRESS: temporal.address,
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { stderr, code };
};

/** The SDK retries a call from a timer, which throws once the connection is closed. */
describe('a program whose connection to Temporal fails during several calls', () => {
  it('prints one sentence with the reason: admin reconcile', async () => {
    for (let count = 0; count < 12; count += 1) await records.opened();
    await records.sql`update payments set created_at = now() - interval '2 minutes'`;
    const { stderr, code } = await run(['admin/cli/main.ts', 'reconcile'], {});
    // The retries may have reached the deadline.
    const why = '(14 UNAVAILABLE|4 DEADLINE_EXCEEDED).*';
    expect(stderr).toMatch(new RegExp(`^Failed: Failed to describe workflow \\(${why}\\)\n$`));
    expect(code).toBe(1);
  });

  it('does not report a workflow as different: replay-open', async () => {
    const { code, stderr } = await run(['worker/replay-open.ts'], {
      WORKFLOW_BUNDLE: inject('workflowBundle'),
    });
    expect(code).toBe(2);
    expect(stderr).not.toContain('Channel');
  });
});

it.each([
  ['the API', 'api/main.ts', ''],
  ['the console', 'admin/console/main.ts', ''],
  ['the command line', 'admin/cli/main.ts', 'payments list'],
])('%s refuses a database that a much later version has migrated', async (_, entry, args) => {
  const { url, sql } = await forFile(aDatabase());
  await sql`insert into versions (version) values ('1.999.0')`;
  const { stderr, code } = await run([entry, ...args.split(' ').filter(Boolean)], {
    DATABASE_URL: url,
    PUBLIC_BASE_URL: 'http://127.0.0.1:1',
    CONSOLE_BASE_URL: 'http://127.0.0.1:1',
    PAYERS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
  });
  expect(stderr).toMatch(
    /^1\.999\.0 has migrated the database, which this program, \S+, cannot use:/,
  );
  expect(code).toBe(1);
});

it('exits with 0 when the API stops while neither Temporal nor Postgres responds', async () => {
  const proxy = await startTcpProxy([records.url]);
  try {
    const url = new URL(records.url);
    url.port = new URL(proxy.url).port;
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../api/main.ts')], {
      env: {
        DATABASE_URL: url.href,
        TEMPORAL_ADDRESS: '127.0.0.1:9',
        API_PORT: '0',
        METRICS_PORT: '0',
        SHUTDOWN_GRACE_SECONDS: '1',
        NODE_COMPILE_CACHE: compileCache,
        PUBLIC_BASE_URL: 'http://127.0.0.1:1',
        PAYERS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
      },
    });
    const stderr = text(child.stderr);
    const metricsPort = await new Promise<number>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const [, port] = /"metrics_port":(\d+)/.exec(line) ?? [];
        if (port) resolve(Number(port));
      });
      child.once('exit', () => void stderr.then((reason) => reject(new Error(reason))));
    });
    await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
    proxy.silence();
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(await stderr).toBe('');
    expect(code).toBe(0);
  } finally {
    await proxy.stop();
  }
});
