import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createPaymentsClient } from '../../../demo/payments-client.ts';

const order = { order_id: 'C-1', amount: 1290, currency: 'EUR' };
const payment = {
  ...{ ...order, payment_id: 'PAY_1', status: 'pending', checkout_url: null },
  ...{ failure_reason: null, metadata: {}, created_at: '2026-11-20T10:41:37.123+00:00' },
};

/** Creates a payment with a service that answers so in turn; 0: it breaks the connection off. */
const create = async (...statuses: number[]) => {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    const answer = async () => {
      asked.push([request.headers['idempotency-key'], JSON.parse(await text(request))]);
      const status = statuses.shift() ?? 500;
      if (status === 0) return void request.socket.destroy();
      const refusal = { error: { code: 'REFUSED', message: 'No.' } };
      response.writeHead(status).end(JSON.stringify(status === 201 ? payment : refusal));
    };
    void answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const client = createPaymentsClient({ apiBaseUrl: `http://127.0.0.1:${port}`, token: 'none' });
  const result: unknown = await client.create(order, 'key-1').catch((error: unknown) => error);
  return { result, asked };
};

it('asks again with the same key and body where no clear answer came: there is one payment', async () => {
  const { result, asked } = await create(0, 503, 201);
  expect(result).toEqual(payment);
  expect(asked).toEqual(Array.from({ length: 3 }, () => ['key-1', order]));
});

it('takes a refusal for an answer, and gives up after three times', async () => {
  const refused = await create(422);
  expect(refused.result).toMatchObject({ message: 'The service answered 422 REFUSED: No.' });
  expect(refused.asked).toHaveLength(1);
  const gaveUp = await create(503, 503, 503, 201);
  expect(gaveUp.result).toMatchObject({ message: 'The service answered 503 REFUSED: No.' });
  expect(gaveUp.asked).toHaveLength(3);
});
