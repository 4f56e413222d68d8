import { expect, it } from 'vitest';
import { createRefusals } from '../../../../api/http/refusals.ts';
import { newRequestId } from '../../../../contract/ids.ts';
import {
  createRefusedRequests,
  keptRefusals,
  type RefusedRequest,
} from '../../../../postgres/applications/refused-requests.ts';
import { forFile } from '../../../support/for-file.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';

const service = await forFile(useService());
const refusedRequests = createRefusedRequests(service.sql);

const keptOf = (application: string, mode: { test: boolean }, count: number) =>
  until('they are written', async () => {
    const found = await refusedRequests.list(application, mode);
    return found.length === count && found;
  });

it('a refused request is kept for the developers of its application, with its fields and not its body', async () => {
  const { application, journey } = await service.anApplication();
  const answers = [
    await journey.request('POST', '/api/v1/payments', {
      order_id: 'secret-order',
      amount: -1,
      currency: 'EUR',
      colour: 'red',
    }),
    await journey.request('GET', '/api/v1/payments/PAY_00000000000000000000000000'),
  ];
  await journey.request('GET', '/api/v1/me');
  const kept = await keptOf(application, { test: true }, answers.length);
  const [missing, invalid] = kept;
  expect([invalid?.id, missing?.id]).toEqual(
    answers.map(({ headers }) => headers.get('x-request-id')),
  );
  expect(missing).toMatchObject({
    method: 'GET',
    route: '/api/v1/payments/:payment_id',
    status: 404,
    code: 'PAYMENT_NOT_FOUND',
    fields: null,
  });
  expect(invalid).toMatchObject({
    method: 'POST',
    route: '/api/v1/payments',
    status: 422,
    code: 'VALIDATION_FAILED',
  });
  expect(invalid?.fields?.map(({ path }) => path).sort()).toEqual(['', 'amount']);
  expect(JSON.stringify(kept)).not.toContain('secret-order');
  expect(await refusedRequests.getApplication(invalid?.id ?? '')).toBe(application);
});

it.each([
  'Sara',
  'sara@shop.example',
  '6037991234567890',
  'hunter2',
  'a.b',
  'x'.repeat(300),
  '\u202egnp',
])(
  'a name that no field has is not kept, and repeated to its caller only if it looks like one: %s',
  async (name) => {
    const { application, journey } = await service.anApplication();
    const order = { order_id: 'o-1', amount: 1_250, currency: 'EUR' };
    const query = `${encodeURIComponent(name)}=1`;
    const answers = [
      await journey.request('POST', '/api/v1/payments', { ...order, [name]: 1 }),
      await journey.request('POST', '/api/v1/payments', { ...order, payer: { [name]: 1 } }),
      await journey.request('GET', `/api/v1/payments?${query}&${query}`),
    ];
    for (const { status, text } of answers)
      expect([status, text.includes(name)]).toEqual([422, /^(?:Sara|hunter2)$/.test(name)]);
    const kept = await keptOf(application, { test: true }, answers.length);
    for (const { fields } of kept)
      expect(fields).toEqual([
        { path: '', rule: 'unknown_field', message: 'has a field that is not known' },
      ]);
    expect(JSON.stringify(kept)).not.toContain(name);
  },
);

it('a request is of the mode of its token', async () => {
  const { application, journey } = await service.anApplication({ mode: 'live' });
  await journey.request('POST', '/api/v1/payments', {});
  const [kept] = await keptOf(application, { test: false }, 1);
  expect(await refusedRequests.list(application, { test: true })).toEqual([]);
  expect(await refusedRequests.list(application, { id: kept?.id ?? '' })).toEqual([kept]);
});

const refused = (application: string, test = true): RefusedRequest => ({
  id: newRequestId(),
  application,
  test,
  method: 'GET',
  route: '/api/v1/me',
  status: 429,
  code: 'RATE_LIMITED',
  fields: null,
});

it('an application keeps its newest of each mode, however many there are', async () => {
  const [loud, quiet] = [await service.anApplication(), await service.anApplication()];
  const live = refused(loud.application, false);
  await refusedRequests.insert([refused(quiet.application), live]);
  const many = Array.from({ length: keptRefusals }, () => refused(loud.application));
  await refusedRequests.insert(many);
  const newest = refused(loud.application);
  await refusedRequests.insert([newest]);
  const found = await refusedRequests.list(loud.application, { test: true });
  expect(found).toHaveLength(keptRefusals);
  expect(found[0]?.id).toBe(newest.id);
  expect(await refusedRequests.list(quiet.application, { test: true })).toHaveLength(1);
  expect(await refusedRequests.list(loud.application, { test: false })).toMatchObject([live]);
});

it('a client in a loop fills nothing, and takes no place from another application or mode', async () => {
  const written: RefusedRequest[] = [];
  const errors: object[] = [];
  const refusals = createRefusals({
    insert: async (requests) => void written.push(...requests),
    logger: { error: (error: object) => void errors.push(error) },
  });
  for (let sent = 0; sent < 1_000; sent += 1) refusals.record(refused('loud'));
  refusals.record(refused('loud', false));
  refusals.record({
    ...refused('quiet'),
    fields: [{ path: `\0 svc_live_abc whsec_abc ${'😀'.repeat(200)}`, rule: 'a', message: 'b' }],
  });
  await refusals.stop();
  const loud = written.filter(({ application }) => application === 'loud');
  expect([loud.length, loud.filter(({ test }) => !test).length]).toEqual([21, 1]);
  const [quiet, ...others] = written.filter(({ application }) => application === 'quiet');
  expect(others).toEqual([]);
  expect(quiet?.fields?.[0]?.path).toMatch(/^\u{fffd} svc_live_… whsec_… (?:😀)+\u{fffd}$/u);
  // One name with a zero byte must not lose the requests of others.
  await refusedRequests.insert([
    { ...refused((await service.anApplication()).application), fields: quiet?.fields ?? null },
  ]);
  expect(errors).toEqual([]);
});
