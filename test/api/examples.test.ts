import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersOf } from '../../api/answers.ts';
import { createExamples } from '../../api/routes/examples.ts';
import { routes } from '../../api/routes/table.ts';
import { createJourney } from '../support/journey.ts';
import { rawRequest } from '../support/raw-http.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import type { StripeAccount } from '../support/stripe-account.ts';
import { addStripe } from '../support/stripe-account.ts';

let service: Service;
let stripe: StripeAccount;
beforeAll(async () => {
  service = await startService();
  stripe = await addStripe(service);
});
afterAll(async () => {
  await service?.stop();
  await stripe?.stop();
});

const ask = async (method: 'GET' | 'POST', path: string, body?: object) =>
  createJourney(service, (await service.anApplication()).token).request(method, path, body);

describe('the example of what is not valid is what is answered', () => {
  it.each([
    [
      'createPayment',
      () => ask('POST', '/api/v1/payments', { ...createExamples.smallest, amount: 0 }),
    ],
    ['listPayments', () => ask('GET', '/api/v1/payments?per_page=0')],
    [
      'notifyOfPayment',
      () => rawRequest(`${service.url}/api/v1/gateways/stripe/notifications`, { body: '{}' }),
    ],
  ] as const)('%s', async (operation, send) => {
    const declared = answersOf(routes[operation]).find(({ code }) => code === 'VALIDATION_FAILED');
    const example = declared?.examples['VALIDATION_FAILED'] as { error: object };
    const { status, json } = await send();
    expect(status).toBe(422);
    expect(json).toEqual({
      error: { ...example.error, request_id: expect.any(String) as string },
    });
  });
});
