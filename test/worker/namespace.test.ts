import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, inject, it, onTestFinished } from 'vitest';
import { freePort } from '../../stack/ports.ts';
import { startTemporal } from '../../stack/temporal/server.ts';
import { prepareNamespace } from '../../worker/namespace.ts';
import { searchAttributes } from '../../workflows/messages.ts';
import { aFolder } from '../stack/support.ts';
import { until } from '../support/until.ts';

it('lets several workers start at once on a namespace that has nothing yet, and payments after them', async () => {
  const dbFile = join(aFolder(), 'temporal.db');
  const program = inject('temporalProgram');
  const { address, stop } = await startTemporal({ program, dbFile, port: await freePort() });
  onTestFinished(stop);
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());

  for (const namespace of ['first', 'second', 'third']) {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The server's parts hear of a new namespace one after the other.
    const listed = () => connection.operatorService.listSearchAttributes({ namespace });
    await until('the namespace is known', () => listed().then(Boolean, () => false));

    const clients = Array.from({ length: 5 }, () => new Client({ connection, namespace }));
    await Promise.all(clients.map(prepareNamespace));
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
