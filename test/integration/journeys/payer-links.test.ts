import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createJourney } from '../../support/service/journey.ts';
import { useOwnApi } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(
  useOwnApi({ PAYER_PAGES_PER_MINUTE: '20', TRUSTED_PROXIES: '127.0.0.1' }),
);
const { application, token } = await service.anApplication();
const journey = createJourney(service, token);

const links = 200;
/** So long that more requests come than two minutes have pages. */
const stormMs = 5_000;
const perSecond = 100;

const idOf = (n: number) => `PAY_01${String(n).padStart(24, '0')}`;

/** Payments whose payers were at the gateway, and that ended a minute ago. */
const expiredPayments = () => service.sql`
  with payments as (
    insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at, gateway_reference, checkout_at)
    select 'PAY_01' || lpad(n::text, 24, '0'), ${application}, true, 'o', 'expired', 1250, 'EUR',
      'sandbox', 'http://127.0.0.1:9/return', '{}', now() - interval '1 minute',
      now() - interval '1 hour', now() - interval '1 minute', 'LINK-' || n, now() - interval '1 hour'
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
/** A whole payment of another payer, until the shop knows that it is paid. */
const pay = async () => {
  payers += 1;
  const headers = { 'x-forwarded-for': `192.0.2.${payers}` };
  const id = await journey.create();
  const base = `/api/v1/payments/${id}`;
  // Beside the storm an answer may take longer than a request waits.
  await until('it is opened', async () => {
    const { status } = await journey.call('GET', `${base}/checkout`, { headers });
    return status === 302;
  });
  const body = new URLSearchParams({ action: 'pay' });
  await journey.call('POST', `/api/v1/sandbox/${id}`, { headers, body });
  await until('it is paid', async () => {
    const back = await journey.call('GET', `${base}/return`, { headers });
    return back.headers.get('location')?.includes('status=paid');
  });
  await until('the webhook', () => service.receiver.of(id)[0]);
};

it('200 links of ended payments, opened 100 times a second from one /48, are limited while others pay', async () => {
  await expiredPayments();
  let isOver = false;
  const payOthers = async () => {
    while (!isOver) await pay();
  };
  const storming = storm().finally(() => {
    isOver = true;
  });
  const [statuses] = await Promise.all([storming, payOthers()]);
  expect(payers).toBeGreaterThan(0);
  // Ten times the pages of one address, in each of at most two minutes.
  const shown = statuses.filter((status) => status === 303);
  expect(shown.length).toBeLessThanOrEqual(400);
  expect(shown.length + statuses.filter((status) => status === 429).length).toBe(statuses.length);
  // One for each link, and one more that waits.
  const { count } = await service.client.workflow.count("WorkflowId STARTS_WITH 'LATE_PAY_010'");
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(links * 2);
});
