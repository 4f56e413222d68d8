import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, inject, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import { createClient } from '../../../temporal/client.ts';
import { addSearchAttributes, untilTemporalAnswers } from '../../../temporal/namespace.ts';
import { connectNative } from '../../../temporal/native-connection.ts';
import { searchAttributes } from '../../../temporal/start-options.ts';
import { forFile } from '../../support/for-file.ts';
import { until } from '../../support/until.ts';

// The shared server has its namespaces from its start, so this one is another.
const { address } = await forFile(
  startTemporal({ program: inject('temporalProgram'), port: await freePort() }),
);

it('lets several workers set up a new namespace at once, and payments start afterwards', async () => {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  for (const namespace of ['first', 'second', 'third']) {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The server's parts learn of a new namespace one after the other.
    const listed = () => connection.operatorService.listSearchAttributes({ namespace });
    await until('the namespace is known', () => listed().then(Boolean, () => false));

    const clients = Array.from({ length: 5 }, () => new Client({ connection, namespace }));
    await Promise.all(clients.map(addSearchAttributes));
    const { customAttributes } = await listed();
    expect(Object.keys(customAttributes)).toEqual(
      expect.arrayContaining(['Application', 'OrderId']),
    );
    const { application, orderId } = searchAttributes;
    await new Client({ connection, namespace }).workflow.start('payment', {
      workflowId: 'first',
      taskQueue: 'a queue without workers',
      typedSearchAttributes: [
        { key: application, value: 'shop' },
        { key: orderId, value: 'order-1' },
      ],
    });
  }
});

it('lets a worker report in one sentence that it could not set up its namespace', async () => {
  const worker = promisify(execFile)(process.execPath, ['worker/main.ts'], {
    env: {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: 'misspelt',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      PUBLIC_BASE_URL: 'http://127.0.0.1:1',
      SECRETS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
      WEBHOOKS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
      PAYERS_KEY: `test:${Buffer.alloc(32).toString('base64')}`,
    },
  });

  await expect(worker).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^Could not set up the namespace misspelt .*not found.*Application and OrderId.*\.\n$/,
    ) as string,
  });
});

const startSomething = (client: Client) =>
  client.workflow.start('payment', {
    workflowId: 'waited-for',
    taskQueue: 'a queue without workers',
  });

it('lets a worker wait for a Temporal that is too busy to answer in time, and for nothing else', async () => {
  const connection = await connectNative({ address });
  onTestFinished(() => connection.close());
  const client = createClient(connection, 'default');
  let tries = 0;
  await untilTemporalAnswers(async () => {
    tries += 1;
    if (tries < 3) await client.withDeadline(Date.now(), () => startSomething(client));
  });
  expect(tries).toBe(3);
  const misspelt = createClient(connection, 'misspelt');
  const asked = untilTemporalAnswers(() => addSearchAttributes(misspelt));
  await expect(asked).rejects.toThrow('not found');
});
