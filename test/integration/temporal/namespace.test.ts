import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, inject, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import { setupNamespace } from '../../../temporal/namespace.ts';
import { searchAttributes } from '../../../temporal/messages.ts';
import { aFolder } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const startServer = async () => {
  const dbFile = join(aFolder(), 'temporal.db');
  const program = inject('temporalProgram');
  const { address, stop } = await startTemporal({ program, dbFile, port: await freePort() });
  onTestFinished(stop);
  return address;
};

const connect = async () => {
  const connection = await Connection.connect({ address: await startServer() });
  onTestFinished(() => connection.close());
  return connection;
};

it('brings the Schedule of an earlier release up to date, and leaves it paused', async () => {
  const connection = await connect();
  const client = new Client({ connection });
  const handle = client.schedule.getHandle('sweep');
  const described = async () => {
    const { spec, policies, action } = await handle.describe();
    return { spec, policies, action };
  };
  await setupNamespace(client);
  const fresh = await described();
  await handle.delete();

  await until('it can be made again', () =>
    client.schedule
      .create({
        scheduleId: 'sweep',
        spec: { intervals: [{ every: '1h' }] },
        policies: { overlap: 'ALLOW_ALL' },
        action: {
          ...{ type: 'startWorkflow', workflowType: 'sweep', workflowId: 'sweep' },
          ...{ taskQueue: 'payments', args: ['old'], workflowRunTimeout: '1h' },
        },
      })
      .then(Boolean, () => false),
  );
  await handle.pause('by an operator');
  expect(await described()).not.toEqual(fresh);
  await setupNamespace(client);
  expect(await described()).toEqual(fresh);
  const { state } = await handle.describe();
  expect(state).toMatchObject({ paused: true, note: 'by an operator' });
});

it('lets several workers start at once on a namespace that has nothing yet, and payments after them', async () => {
  const connection = await connect();
  for (const namespace of ['first', 'second', 'third']) {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The server's parts hear of a new namespace one after the other.
    const listed = () => connection.operatorService.listSearchAttributes({ namespace });
    await until('the namespace is known', () => listed().then(Boolean, () => false));

    const clients = Array.from({ length: 5 }, () => new Client({ connection, namespace }));
    await Promise.all(clients.map(setupNamespace));
    const { customAttributes } = await listed();
    expect(Object.keys(customAttributes)).toEqual(
      expect.arrayContaining(['Application', 'OrderId']),
    );
    // And the server takes them from that moment on.
    const { application, orderId } = searchAttributes;
    await new Client({ connection, namespace }).workflow.start('payment', {
      workflowId: 'first',
      taskQueue: 'nobody',
      typedSearchAttributes: [
        { key: application, value: 'shop' },
        { key: orderId, value: 'order-1' },
      ],
    });
  }
});

it('a worker whose namespace cannot be prepared says so in one sentence', async () => {
  const worker = promisify(execFile)(process.execPath, ['worker/main.ts'], {
    env: {
      TEMPORAL_ADDRESS: await startServer(),
      TEMPORAL_NAMESPACE: 'misspelt',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      PUBLIC_BASE_URL: 'http://127.0.0.1:1',
      SECRETS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
    },
  });

  await expect(worker).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^The namespace misspelt .*not found.*Application and OrderId.*\.\n$/,
    ),
  });
});
