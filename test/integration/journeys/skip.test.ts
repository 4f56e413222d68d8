import { expect, it } from 'vitest';
import { forFile } from '../../support/for-file.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { useService } from '../../support/service/service.ts';
import { untilListedAsClosed } from '../../support/service/terminate.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());
const { payments } = operationsOf(service);
const skip = (id: string) => payments.skipToNextStep(id, null);

const aPayment = async (sandbox: object) => {
  const { journey } = await service.anApplication();
  return { id: await journey.create({ sandbox }), journey };
};

it('a test payment skips to its deadline, and then to the money that comes after it', async () => {
  const { id, journey } = await aPayment({ outcome: 'paid_late' });
  await until('the payer is at the gateway', async () => {
    const { payment } = await payments.get(id);
    return payment.checkoutAt !== null;
  });
  await skip(id);
  await until('it is expired', async () => (await journey.get(id)).json['status'] === 'expired');
  await until(
    'the event is delivered',
    async () => (await payments.get(id)).payment.delivery === 'delivered',
  );
  await skip(id);
  await until('the late money is resolved', async () => {
    const { payment } = await payments.get(id);
    return payment.latePaymentResult === 'returns';
  });
  await service.client.workflow.getHandle(`LATE_${id}`).result();
  await untilListedAsClosed(service.client, `LATE_${id}`);
  await expect(skip(id)).rejects.toThrow(`${id} waits for nothing.`);
});

it('an attempt that is due later comes now, six in all', async () => {
  service.receiver.behave(() => 500);
  const { id } = await aPayment({ outcome: 'paid' });
  const state = async () => (await payments.get(id)).payment;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(`attempt ${attempt} has failed`, async () => {
      const { attempts, nextAttemptAt } = await state();
      return attempts.length === attempt && nextAttemptAt !== null && attempts.at(-1)?.completedAt;
    });
    await until('Temporal waits for the next one', async () => {
      const { raw } = await service.client.workflow.getHandle(id).describe();
      return raw.pendingActivities?.[0]?.attempt === attempt + 1;
    });
    await skip(id);
  }
  await until('it is exhausted', async () => (await state()).delivery === 'exhausted');
  expect(service.receiver.of(id)).toHaveLength(6);
  await expect(skip(id)).rejects.toThrow('waits for nothing');
});
