import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateways } from '../../../../postgres/gateways.ts';
import { createJourney } from '../../../support/journey.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';

let service: Service;
let create: (fields: object) => Promise<{ status: number; text: string; fields: unknown }>;
beforeAll(async () => {
  service = await startService();
  for (const driver of ['zarinpal', 'zibal', 'payping', 'stripe'])
    await createGateways(service.sql).insert({
      slug: driver,
      driver,
      kind: 'live',
      credentials: null,
    });
  const { token } = await service.anApplication({ mode: 'live' });
  const { request } = createJourney(service, token);
  create = async (fields) => {
    const answer = await request('POST', '/api/v1/payments', { order_id: 'o-1', ...fields });
    const error = answer.json['error'] as { details?: { fields: unknown } } | undefined;
    return { status: answer.status, text: answer.text, fields: error?.details?.fields };
  };
});
afterAll(() => service?.stop());

const rials = (gateway: string, amount: number) => ({ gateway, amount, currency: 'IRR' });

describe('POST /payments, to a gateway that takes less than we do', () => {
  it.each([
    rials('zarinpal', 1_000_000_000),
    rials('zibal', 1_001),
    rials('zibal', 3_000_000_000),
    rials('payping', 21_474_836_470),
    { gateway: 'stripe', amount: 50, currency: 'USD' },
    { gateway: 'stripe', amount: 1_250, currency: 'KWD' },
    { gateway: 'sandbox', amount: 999_999_999_999, currency: 'KWD' },
  ])('201: takes %o', async (wanted) => {
    const { status, text } = await create(wanted);
    expect(status, text).toBe(201);
  });

  it.each([
    [rials('zarinpal', 3_000_000_000), 'amount', 'must be from 1 to 1000000000 IRR minor units'],
    [rials('zibal', 1_000), 'amount', 'must be from 1001 to 999999999999 IRR minor units'],
    [rials('payping', 21_474_836_480), 'amount', 'must be from 10 to 21474836470 IRR minor units'],
    [rials('payping', 15), 'amount', 'must be a multiple of 10 IRR minor units'],
    [rials('stripe', 150_000), 'currency', 'is not taken by this gateway'],
    [{ ...rials('zarinpal', 500), currency: 'EUR' }, 'currency', 'is not taken by this gateway'],
    [{ gateway: 'stripe', amount: 49, currency: 'USD' }, 'amount', 'must be from 50 to 99999999'],
    [{ gateway: 'stripe', amount: 1_255, currency: 'KWD' }, 'amount', 'must be a multiple of 10'],
  ])('422: FS-19: refuses %o', async (wanted, path, message) => {
    const { status, fields } = await create(wanted);
    expect(status).toBe(422);
    expect(fields).toEqual([
      {
        path,
        rule: expect.stringMatching(/^gateway_/) as string,
        message: expect.stringContaining(message) as string,
      },
    ]);
  });

  it('422: says it together with whatever else is wrong', async () => {
    const { status, fields } = await create({
      ...rials('zarinpal', 3_000_000_000),
      callback_url: 'https://elsewhere.example',
    });
    expect(status).toBe(422);
    expect(fields).toMatchObject([{ path: 'callback_url' }, { path: 'amount' }]);
    const unnamed = await create({ ...rials('zarinpal', 3_000_000_000), order_id: '' });
    expect(unnamed.fields).toMatchObject([{ path: 'order_id' }, { path: 'amount' }]);
  });

  it('403: a test token hears that it may not use it, not what it takes', async () => {
    const { token } = await service.anApplication();
    const { request } = createJourney(service, token);
    const body = { order_id: 'o-1', gateway: 'zarinpal', amount: 500, currency: 'EUR' };
    const refused = await request('POST', '/api/v1/payments', body);
    expect(refused.json['error']).toMatchObject({ code: 'GATEWAY_NOT_ALLOWED' });
  });
});
