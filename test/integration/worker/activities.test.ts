import type { Socket } from 'node:net';
import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { createRegistry, createWorkerMetrics } from '../../../telemetry/metrics.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { composeActivities } from '../../../worker/activities.ts';
import { paymentSlots } from '../../../worker/workers.ts';
import { aKeyRing } from '../../support/service/admin-operations.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { startRecords } from '../../support/data/records.ts';
import { readableLogger } from '../../support/service/scripted-gateway.ts';
import { until } from '../../support/until.ts';

it('gives a gateway that hangs a quarter of the slots of the worker', async () => {
  const records = await startRecords();
  onTestFinished(records.drop);
  const calls: Socket[] = [];
  await using server = await startRawServer((socket) => calls.push(socket));
  const secretBox = aKeyRing();
  const credentials = { secretKey: 'sk_test_0123456789', baseUrl: new URL(server.url).origin };
  await createGateways(records.sql).insert({
    slug: 'slow',
    driver: 'stripe',
    kind: 'sandbox',
    credentials: createSecretBox(secretBox).seal(JSON.stringify(credentials), 'gateway:slow'),
  });
  const { activities, close } = composeActivities({
    config: {
      PUBLIC_BASE_URL: 'https://pay.example',
      SECRETS_KEY: secretBox,
      ALLOW_LOOPBACK_TARGETS: true,
    },
    // No activity of this test calls Temporal.
    client: {} as Client,
    sql: records.sql,
    metrics: createWorkerMetrics(createRegistry()),
    logger: readableLogger().logger,
  });
  onTestFinished(close);
  const { id } = await records.sent({ gateway: 'slow' });
  const verify = () => activities.verifyPayment({ id, returned: false });

  const slots = paymentSlots / 4;
  const verifying = Promise.all(Array.from({ length: slots }, verify));
  await until('all of them call the gateway', () => calls.length === slots);
  await expect(verify()).rejects.toMatchObject({ type: 'GatewayBusy' });
  for (const call of calls) call.destroy();
  expect(new Set((await verifying).map(({ kind }) => kind))).toEqual(new Set(['unknown']));
});
