import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createJourney } from '../../support/service/journey.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

// A pace is measured, so nobody else uses its Temporal.
const service = await forFile(
  startService({
    ownTemporal: true,
    apiEnv: { PAYER_PAGES_PER_MINUTE: '60', TRUSTED_PROXIES: '127.0.0.1' },
  }),
);
const made = await service.anApplication();
const application = made.application;
const journey = createJourney(service, made.token);

const links = 200;
const stormMs = 15_000;
const perSecond = 100;

const idOf = (n: number) => `PAY_01${String(n).padStart(24, '0')}`;

/** Payments whose payers were at the gateway, and that ended a minute ago. */
const expiredPayments = () => service.sql`
  with payments as (
    insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at, gateway_reference, checkout_at)
    select 'PAY_01' || lpad(n::text, 24, '0'), ${application}, true, 'o', 'expired', 1250, 'EUR',
      'sandbox', 'http://127.0.0.1:9/return', '{}', now() - interval '1 minute',
      now() - interval '1 hour', now() - interval '1 minute', 'S' || n, now() - interval '1 hour'
    from generate_series(1, ${links}::int) n
    returning id, gateway_reference
  )
  insert into sandbox_payments (reference, payment_id, amount, currency, return_url, state)
  select gateway_reference, id, 1250, 'EUR', '', 'expired' from payments`;

/** Opens the links again and again, each time from another /64 of one /48. */
const storm = async (): Promise<number[]> => {
  const statuses: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let count = 0; performance.now() - startedAt < stormMs; count += 1) {
    await sleep(Math.max(0, startedAt + (count * 1000) / perSecond - performance.now()));
    const headers = { 'x-forwarded-for': `2001:db8:1:${(count % 65_536).toString(16)}::1` };
    const path = `/api/v1/payments/${idOf(1 + (count % links))}/return`;
    statuses.push(journey.call('GET', path, { headers }).then(({ status }) => status));
  }
  return Promise.all(statuses);
};

let payers = 0;
/** A whole payment of another payer. @returns how long it takes until the shop knows that it is paid */
const pay = async (): Promise<number> => {
  payers += 1;
  const headers = { 'x-forwarded-for': `192.0.2.${payers}` };
  const startedAt = performance.now();
  const id = await journey.create();
  const base = `/api/v1/payments/${id}`;
  expect((await journey.call('GET', `${base}/checkout`, { headers })).status).toBe(302);
  const body = new URLSearchParams({ action: 'pay' });
  await journey.call('POST', `/api/v1/sandbox/${id}`, { headers, body });
  const back = await journey.call('GET', `${base}/return`, { headers });
  expect(back.headers.get('location')).toContain('status=paid');
  await until('the webhook', () => service.receiver.of(id)[0]);
  return performance.now() - startedAt;
};
const payOneAfterAnother = async (ms: number): Promise<number[]> => {
  const tookMs: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) tookMs.push(await pay());
  return tookMs;
};
const medianOf = (values: number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

it('200 links of ended payments, opened 100 times a second from one /48, do not slow others down', async () => {
  await expiredPayments();
  await payOneAfterAnother(3_000);
  const before = medianOf(await payOneAfterAnother(3_000));
  const [statuses, beside] = await Promise.all([storm(), payOneAfterAnother(stormMs)]);
  // Tests of other files make the machine more and less busy during the storm.
  const alone = Math.max(before, medianOf(await payOneAfterAnother(3_000)));
  // Ten times the pages of one address.
  const shown = statuses.filter((status) => status === 303);
  expect(shown.length).toBeLessThanOrEqual(1_200);
  expect(shown.length + statuses.filter((status) => status === 429).length).toBe(statuses.length);
  // One for each link, and one more that waits.
  const { count } = await service.client.workflow.count("WorkflowType = 'latePayment'");
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(links * 2);
  expect(medianOf(beside), `alone ${Math.round(alone)} ms`).toBeLessThan(alone * 2 + 250);
});
