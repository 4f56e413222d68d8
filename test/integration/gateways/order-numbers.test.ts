import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseResponse } from '../../../gateways/call.ts';
import { defineDriver, type Tools } from '../../../gateways/gateway.ts';
import { beginTry, createGatewayDispatchers } from '../../../gateways/http.ts';
import { createProofs } from '../../../postgres/gateways/proofs.ts';
import { startFakeProvider } from '../../fakes/server.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { withGateway } from '../../support/service/scripted-gateway.ts';
import { until } from '../../support/until.ts';

/** A provider whose order ids are numbers that a shop uses once, as those of Iranian banks. */
const orders = new Map<number, { token: string; amount: number; isPaid: boolean }>();
const provider = await forFile(
  startFakeProvider(({ path, json }) => {
    const number = Number(json['order']);
    const known = orders.get(number);
    if (path === '/inquire') return { body: known ?? { error: 'unknown' } };
    if (known) return { status: 409, body: { error: 'duplicate order' } };
    const order = { token: `token-${orders.size}`, amount: Number(json['amount']), isPaid: false };
    orders.set(number, order);
    return { body: { token: order.token } };
  }),
);

/** Of this test alone. Its reference has the number, without which the provider tells nothing. */
const driver = defineDriver({
  capabilities: {
    currencies: new Map([['EUR', { wireExponent: 2, min: 1, max: 999_999, step: 1 }]]),
    expirySeconds: { min: 60, max: 3_600 },
    ...{
      twoStepVerify: false,
      returnTime: { days: 1 },
      reportsFees: false,
      reportsReversals: false,
    },
    ...{ reversal: null, refund: null },
  },
  credentials: z.strictObject({}),
  connect(_, { callsTo, orderNumber }) {
    const call = callsTo({ provider: 'Numbers', baseUrl: '', override: provider.url });
    const inquire = async ({ reference }: { reference: string }) => {
      const [number, token] = reference.split(' ');
      const json = { order: Number(number) };
      const response = await call({ operation: 'inquire', method: 'POST', path: '/inquire', json });
      const Known = z.object({ token: z.literal(token), amount: z.int(), isPaid: z.boolean() });
      const { amount, isPaid } = parseResponse(Known, response, 'inquire');
      if (!isPaid) return { state: 'waiting' as const };
      const facts = { currency: 'EUR', trackingCode: null, cardPanMasked: null };
      return { state: 'paid' as const, amount, ...facts };
    };
    return {
      async open({ amount }) {
        const order = await orderNumber();
        const json = { order, amount };
        const response = await call({ operation: 'open', method: 'POST', path: '/open', json });
        const { token } = parseResponse(z.object({ token: z.string() }), response, 'open');
        const redirect = { method: 'GET', url: `${provider.url}/pay/${token}` } as const;
        return { result: 'opened', reference: `${order} ${token}`, redirect };
      },
      verify: inquire,
      inquire,
    };
  },
});

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { dispatcherOf, destroy } = createGatewayDispatchers();
afterAll(destroy);
const proofs = createProofs(records.sql);
const tools: Tools = {
  callsTo: beginTry({ dispatcherOf, allowLoopback: true }),
  orderNumber: proofs.nextOrderNumber,
  claimProof: (paymentId, proof) => proofs.claim('sandbox', paymentId, proof),
  claimedProofs: (paymentId) => proofs.listClaimed('sandbox', paymentId),
  now: () => new Date(),
};
const aWorker = () =>
  withGateway(records, driver.connect({ slug: 'sandbox', kind: 'live', credentials: {} }, tools));

/** The payer pays at the page that our record leads to. */
const payRecorded = async (id: string) => {
  const [sent] = await records.payments.sendToGateway([id], new Date());
  const paid = [...orders].filter(([, { token }]) => sent?.redirect?.url.endsWith(`/${token}`));
  for (const [, order] of paid) order.isPaid = true;
  return paid.map(([number, { token }]) => `${number} ${token}`);
};

describe('a provider with numbers of orders', () => {
  it('takes an opening again whose answer was lost, under another number that leads to the payment', async () => {
    const { id } = await records.created();
    const { openPayment, verifyPayment } = aWorker();
    orders.clear();
    provider.fail('lost', /open/);
    await expect(openPayment({ id, afterDeadline: false })).rejects.toThrow('no complete response');
    await openPayment({ id, afterDeadline: false });
    expect(orders.size).toBe(2);
    const [, second = 0] = orders.keys();
    const { reference } = (await records.paymentOutcomes.get(id)) ?? {};
    expect(reference).toBe(`${second} token-1`);
    expect(await payRecorded(id)).toEqual([reference]);
    expect(await verifyPayment({ id, returned: true })).toEqual({ kind: 'ended', status: 'paid' });
  });

  it('takes two openings at the same time, and the one that is recorded is paid', async () => {
    const { id } = await records.created();
    orders.clear();
    const release = [provider.hold(/open/), provider.hold(/open/)];
    const openings = [aWorker(), aWorker()].map(({ openPayment }) =>
      openPayment({ id, afterDeadline: false }),
    );
    await until('both are at the provider', () => orders.size === 2);
    for (const answer of release.toReversed()) answer();
    expect(await Promise.all(openings)).toEqual([{ stage: 'open' }, { stage: 'open' }]);
    const { reference } = (await records.paymentOutcomes.get(id)) ?? {};
    expect(await payRecorded(id)).toEqual([reference]);
    const ended = await aWorker().verifyPayment({ id, returned: true });
    expect(ended).toEqual({ kind: 'ended', status: 'paid' });
  });
});
