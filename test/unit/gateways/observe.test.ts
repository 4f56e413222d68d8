import { expect, it } from 'vitest';
import type { GatewayExchange } from '../../../contract/gateway-exchange.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import { observed } from '../../../gateways/observe.ts';
import { aGatewayPayment } from '../../support/gateways/fixture.ts';

const payment = { ...aGatewayPayment({ amount: 1_250, currency: 'EUR' }), reference: 'r1' };

const observe = (adapter: Partial<GatewayAdapter>, listen = async () => {}) => {
  const exchanges: GatewayExchange[] = [];
  const notCalled = () => Promise.reject(new Error('not called'));
  const whole = { open: notCalled, verify: notCalled, inquire: notCalled, ...adapter };
  const gateway = observed(whole, (exchange) => {
    exchanges.push(exchange);
    return listen();
  });
  return { exchanges, gateway };
};

it('returns the result of a call after the listener got its exchange', async () => {
  const failed = {
    state: 'failed',
    failureCode: 'card_declined',
    code: '5',
    message: 'card 4242424242424242',
  } as const;
  const { exchanges, gateway } = observe({ verify: async () => failed, expire: async () => false });
  expect(await gateway.verify(payment)).toEqual(failed);
  expect(await gateway.expire?.(payment)).toBe(false);
  expect(exchanges).toMatchObject([
    { operation: 'verify', result: 'failed', code: '5', message: 'card 424242******4242' },
    { operation: 'expire', result: 'refused', code: null, message: null },
  ]);
  for (const { at, durationMs } of exchanges) {
    expect(at).toBeInstanceOf(Date);
    expect(durationMs).toBeGreaterThanOrEqual(0);
  }
});

it.each([
  [new GatewayUnavailable('HTTP 500'), { result: 'no_answer', message: 'HTTP 500' }],
  [new TypeError('a fault of ours'), { result: 'error', message: null }],
])('rethrows %s after the listener got its exchange', async (error, exchange) => {
  const { exchanges, gateway } = observe({ inquire: () => Promise.reject(error) });
  await expect(gateway.inquire(payment)).rejects.toBe(error);
  expect(exchanges).toMatchObject([{ operation: 'inquire', code: null, ...exchange }]);
});

it('waits for the listener before it returns', async () => {
  const written = Promise.withResolvers<void>();
  const refused = async () => ({ result: 'refused', code: null, message: null }) as const;
  const { open } = observe({ open: refused }, () => written.promise).gateway;
  let returned = false;
  const opening = open(payment).then(() => (returned = true));
  await new Promise(setImmediate);
  expect(returned).toBe(false);
  written.resolve();
  await opening;
});
