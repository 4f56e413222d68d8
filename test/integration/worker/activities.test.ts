import type { Socket } from 'node:net';
import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { createRegistry, createWorkerMetrics } from '../../../telemetry/metrics.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { composeActivities } from '../../../worker/activities.ts';
import { paymentSlots } from '../../../worker/workers.ts';
import { aKeyRing } from '../../support/operations.ts';
import { startRawServer } from '../../support/raw-server.ts';
import { startRecords } from '../../support/records.ts';
import { readableLogger } from '../../support/scripted-gateway.ts';
import { until } from '../../support/until.ts';

it('FS-48: a gateway that hangs holds a quarter of the worker, and the next call is sent away', async () => {
  const records = await startRecords();
  onTestFinished(records.drop);
  const calls: Socket[] = [];
  await using server = await startRawServer((socket) => calls.push(socket));
  const secretBox = aKeyRing();
  const credentials = { secretKey: 'sk_test_0123456789', baseUrl: new URL(server.url).origin };
  await createGateways(records.sql).insert({
    ...{ slug: 'slow', driver: 'stripe', kind: 'sandbox' },
    credentials: createSecretBox(secretBox).seal(JSON.stringify(credentials), 'gateway:slow'),
  });
  const { activities, close } = composeActivities({
    config: {
      PUBLIC_BASE_URL: 'https://pay.example',
      SECRETS_KEY: secretBox,
      ALLOW_LOOPBACK_TARGETS: true,
    },
    // Nothing here asks the engine.
    client: {} as Client,
    sql: records.sql,
    metrics: createWorkerMetrics(createRegistry()),
    logger: readableLogger().logger,
  });
  onTestFinished(close);
  const { id } = await records.sent({ gateway: 'slow' });
  const settle = () => activities.verifyPayment({ id, returned: false });

  const places = paymentSlots / 4;
  const held = Promise.all(Array.from({ length: places }, settle));
  await until('all of them are asking', () => calls.length === places);
  await expect(settle()).rejects.toMatchObject({ type: 'GATEWAY_BUSY' });
  for (const call of calls) call.destroy();
  expect(new Set((await held).map(({ kind }) => kind))).toEqual(new Set(['unknown']));
});
