import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Journey } from '../../../support/service/journey.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { expectRedirect } from '../../../support/service/payer-page.ts';
import type { Service } from '../../../support/service/service.ts';
import { startService } from '../../../support/service/service.ts';

let service: Service;
let journey: Journey;
beforeAll(async () => {
  service = await startService();
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(() => service?.stop());

const callback = (id: string, status: string) =>
  `http://127.0.0.1:9/return?payment_id=${id}&order_id=order-1&status=${status}`;

describe('a return from the gateway', () => {
  it.each(['GET', 'POST'])(
    'by %s verifies and redirects to the callback URL, whatever its parameters say',
    async (method) => {
      const id = await journey.atGateway();
      await journey.choose(id, 'pay');
      const path = `/api/v1/payments/${id}/return?status=failed&callback_url=https://attacker.example`;
      const body = new URLSearchParams({
        status: 'failed',
        callback_url: 'https://attacker.example',
      });
      const answer = await journey.call(method, path, method === 'POST' ? { body } : {});
      expect(answer.status).toBe(303);
      expectRedirect(answer, callback(id, 'paid'));
      expectRedirect(await journey.call(method, path), callback(id, 'paid'));
    },
  );

  it('replaces the parameters of the callback URL that have our names', async () => {
    const id = await journey.create();
    await service.sql`
      update payments set callback_url = 'http://127.0.0.1:9/return?status=paid&payment_id=x'
      where id = ${id}`;
    await journey.checkout(id);
    await journey.choose(id, 'cancel');
    const { headers } = await journey.comeBack(id);
    const { searchParams } = new URL(headers.get('location') ?? '');
    expect(searchParams.getAll('status')).toEqual(['cancelled']);
    expect(searchParams.getAll('payment_id')).toEqual([id]);
  });

  it('changes nothing if the payment is not open at its gateway yet', async () => {
    await service.worker.stop();
    const id = await journey.create();
    expectRedirect(await journey.comeBack(id), callback(id, 'pending'));
    expect((await journey.get(id)).json['status']).toBe('pending');
    await service.worker.start();
    expect((await journey.checkout(id)).status).toBe(302);
    const { events } = await service.client.workflow.getHandle(id).fetchHistory();
    expect(events?.filter((one) => one.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
  });

  it('redirects with status=processing after about 10 s if no worker answers', async () => {
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    await service.worker.stop();
    const startedAt = performance.now();
    const answer = await journey.comeBack(id);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(answer.status).toBe(303);
    expectRedirect(answer, callback(id, 'processing'));
    await service.worker.start();
    expectRedirect(await journey.comeBack(id), callback(id, 'paid'));
  });
});
