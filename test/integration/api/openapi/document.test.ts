import { expect, it } from 'vitest';
import { declaredResponses } from '../../../../api/http/declared-responses.ts';
import { createExamples } from '../../../../api/payments/create.ts';
import { routes } from '../../../../api/routes.ts';
import { fieldRules } from '../../../../contract/errors.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { paymentCursors } from '../../../../contract/list-payments.ts';
import { rawRequest } from '../../../support/servers/raw-http.ts';
import { problemsOf } from '../../../support/service/answers.ts';
import { useService } from '../../../support/service/service.ts';
import { addStripe } from '../../../support/service/stripe-account.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
await forFile(addStripe(service, 'stripe-of-document'));

const notify = () =>
  rawRequest(`${service.url}/api/v1/gateways/stripe-of-document/notifications`, { body: '{}' });
const send = async (method: 'GET' | 'POST', path: string, body?: object) =>
  (await service.anApplication()).journey.request(method, path, body);

it.each([
  [
    'createPayment',
    () => send('POST', '/api/v1/payments', { ...createExamples.smallest, amount: 0 }),
  ],
  ['listPayments', () => send('GET', '/api/v1/payments?per_page=0')],
  ['notifyOfPayment', notify],
] as const)(
  'the example of a validation error equals the response %s',
  async (operation, sendInvalid) => {
    const declared = declaredResponses(routes[operation]).find(
      ({ code }) => code === 'VALIDATION_FAILED',
    );
    const example = declared?.examples['VALIDATION_FAILED'] as { error: object };
    const { status, json } = await sendInvalid();
    expect(status).toBe(422);
    expect(json).toEqual({
      error: { ...example.error, request_id: expect.any(String) as string },
    });
  },
);

it('the document has exactly the rules of validation errors that the service uses', async () => {
  await service.addGateway({ slug: 'rials', driver: 'payping', kind: 'live' });
  const live = (await service.anApplication({ mode: 'live' })).journey;
  const create = (fields: object) =>
    live.request('POST', '/api/v1/payments', { ...createExamples.smallest, ...fields });
  const list = (query: string) => live.request('GET', `/api/v1/payments?${query}`);
  const metadata = {
    ...Object.fromEntries(Array.from({ length: 51 }, (_, nth) => [`${nth}`.padStart(41), 1])),
    text: 'x'.repeat(8 * 1024),
    deep: [[[[[]]]]],
  };
  const answers = [
    await create({ order_id: 1, amount: 0, currency: 'IRT', expires_in: 86_401, surprise: 1 }),
    await create({ order_id: '', callback_url: 'https://x.example', gateway: 'none', metadata }),
    await create({ gateway: 'rials', currency: 'EUR', sandbox: { outcome: 'paid' } }),
    await create({ gateways: ['rials', 'sandbox'] }),
    await create({ gateway: 'rials', currency: 'IRR', amount: 1 }),
    await create({ gateway: 'rials', currency: 'IRR', amount: 10_001 }),
    await list('order_id=%00&status=ended&from=x&per_page=0&surprise=1'),
    await list('page=1&page=1&cursor=x'),
    await list('page=10000&per_page=101'),
    await list('page=10000'),
    await list(`page=1&cursor=${paymentCursors.format({ at: new Date(), id: newPaymentId() })}`),
    await notify(),
  ];
  const fields = answers.flatMap(problemsOf);
  expect(new Set(fields.map(({ rule }) => rule))).toEqual(new Set(fieldRules));
  for (const { message } of fields) expect(message).toMatch(/^(must|is|has|times) /);
});
