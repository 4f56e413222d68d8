import { describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { createPayouts } from '../../../../postgres/accounts/payouts.ts';
import { createTokens } from '../../../../postgres/applications/tokens.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids } = await startFilledConsole();
const rows = await sql<Record<'id' | 'orderId' | 'application' | 'reference' | 'code', string>[]>`
  select id, order_id as "orderId", application, gateway_reference as reference, tracking_code as code
  from payments where status = 'paid' and gateway = 'sandbox' order by created_at desc`;
const ofShop = rows.find(({ application }) => application === 'shop');
const ofTickets = rows.find(({ application }) => application === 'tickets');
const [refund] = await sql<
  { id: string }[]
>`select id from refunds where application = 'shop' limit 1`;
if (!ofShop || !ofTickets || !refund) throw new Error('They are missing');
await sql`
  update payments set order_id = 'T-2026-000117', card_pan_masked = '603799******4242', amount = 8400, currency = 'EUR'
  where id = ${ofShop.id}`;
await sql`
  update payments set order_id = 'V-2026-000118', card_pan_masked = '603799******9999', amount = 9900, currency = 'USD'
  where id = ${ofTickets.id}`;
await sql`update payments set amount = 7700, currency = 'EUR' where id = ${ids.open}`;

await createPayouts(sql).recordListed({ gateway: 'zarinpal', day: '2026-11-20' }, [
  {
    ...({ id: '8039236', amount: 28_000_001, currency: 'IRR', status: 'paid' } as const),
    ...({
      createdAt: new Date(),
      arrivesOn: null,
      descriptor: 'Books of the Old Town',
      lines: 'never',
    } as const),
    ...{ bankReference: '1402,06,21N1000000000000337759', paidOut: [] },
  },
]);

const viewer = await console.logIn('viewer', 'reader');
const bound = await console.logIn('viewer', 'somebody', ['tickets']);
const find = async (words: string, person = viewer) => {
  const { status, text, headers } = await person.post('/search', { text: words });
  return { status, page: text, to: headers.location };
};
const token = await createTokens(sql).issue({
  application: 'shop',
  mode: 'live',
  name: 'leaked one',
});

const payment = `/payments/${ofShop.id}`;
const end = ofShop.id.slice(-8);

describe('the search', () => {
  it.each([
    ['T-2026', payment],
    ['#T-2026-000117', payment],
    ['Order no. T-2026-000117', payment],
    ['order: t-2026-000117', payment],
    ['سفارش T-۲۰۲۶-۰۰۰۱۱۷', payment],
    ['۴۲۴۲', payment],
    ['€ ۸۴', payment],
    ['  "T-2026-000117", ', payment],
    ['4242', payment],
    ['84.00 EUR', payment],
    ['77.00 EUR', `/payments/${ids.open}`],
    [`“${ofShop.id}”`, payment],
    [`see ${ofShop.id.slice(0, 12)} ${ofShop.id.slice(12)}`, payment],
    [`see https://console/payments/${ofShop.id.toLowerCase()}?a=1`, payment],
    [`LATE_${ofShop.id}`, payment],
    [ofShop.reference, payment],
    [ofShop.code, payment],
    [ofShop.id.slice(0, 28), payment],
    [ofShop.id.slice(4), payment],
    [end, payment],
    [`…${end}`, payment],
    [`id ${refund.id.toLowerCase()}.`, `/refunds/${refund.id}`],
    [refund.id.slice(0, 20), `/refunds/${refund.id}`],
    [refund.id.slice(-9), `/refunds/${refund.id}`],
    [eventId(ofShop.id), `/events/${eventId(ofShop.id)}`],
    [eventId(ofShop.id).slice(0, 13), `/events/${eventId(ofShop.id)}`],
    [
      'req_00000000000000000000000001',
      '/applications/shop/requests?id=req_00000000000000000000000001',
    ],
    ['28,000,001 IRR', '/accounts/payouts/zarinpal/8039236'],
    ['Paya 1402,06,21N1000000000000337759', '/accounts/payouts/zarinpal/8039236'],
    ['SEPA BOOKS OF THE OLD TOWN 20.11.', '/accounts/payouts/zarinpal/8039236'],
    ['READ', '/audit?actor=reader'],
    ['tick', '/applications/tickets'],
    ['zarin', '/gateways/zarinpal'],
  ])('finds %s', async (text, to) => {
    const found = await find(text);
    expect(found.to ?? found.page).toBe(to);
  });

  it('says what it has tried, and keeps the text in its box', async () => {
    const { status, page } = await find('12.50 "nothing"');
    expect(status).toBe(404);
    expect(page).toContain('value="12.50 &quot;nothing&quot;"');
    for (const tried of [
      'order',
      'tracking code',
      'beginning of the order',
      'name of an application',
    ])
      expect(page).toContain(`<li>${tried}`);
    expect((await find('reader@shop.example')).page).toContain('by e-mail address');
    expect((await find('84.00')).page).toContain('needs its currency');
    expect((await find('0.01 EUR')).page).toContain('amount, 0.01 EUR');
    expect((await find('PAY_00000000000000000000000000')).page).toContain(
      '<li>the id of a payment',
    );
  });

  it('shows several under an address, with the text in its box', async () => {
    const { to = '' } = await find('order-11');
    expect(to).toBe('/search?text=order-11');
    const { text } = await viewer.get(to);
    expect(text).toContain('By beginning of the order: more than 20');
    expect(text.match(/href="\/payments\/PAY_/g)).toHaveLength(20);
    expect(text).toContain('value="order-11"');
  });

  it('puts a whole card number into no address and no page', async () => {
    const { page, to } = await find('4242 4242 4242 4242');
    expect(to).toBeUndefined();
    expect(page).toContain(payment);
    expect(page).not.toMatch(/4242 4242/);
  });

  it.each([
    '28,000,001 IRR',
    'T-2026',
    '4242',
    '84.00 EUR',
    ofShop.id,
    ofShop.id.slice(0, 28),
    end,
    refund.id,
    refund.id.slice(-9),
    eventId(ofShop.id),
    eventId(ofShop.id).slice(0, 13),
    'req_00000000000000000000000001',
    'reader',
    'shop',
    'zarinpal',
  ])('shows people of another application nothing of %s', async (text) => {
    const { page, to, status } = await find(text, bound);
    expect([to, status]).toEqual([undefined, 404]);
    expect(page).not.toContain(ofShop.id.slice(0, 28) === text ? payment : ofShop.orderId);
    expect(page).not.toContain(payment);
  });

  it.each([
    ['V-2026', `/payments/${ofTickets.id}`],
    ['9999', `/payments/${ofTickets.id}`],
    ['99.00 USD', `/payments/${ofTickets.id}`],
    [ofTickets.id.slice(-8), `/payments/${ofTickets.id}`],
    ['tick', '/applications/tickets'],
  ])('shows people of an application their own %s', async (text, to) => {
    expect((await find(text, bound)).to).toBe(to);
  });

  it.each(['nothing', '%', "' or 1=1 --", '\0', '<script>'])(
    'finds nothing for %j',
    async (text) => {
      expect((await find(text)).status).toBe(404);
    },
  );

  it('says where requests are that were not refused', async () => {
    const id = 'req_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
    expect((await find(id)).page).toContain(`grep ${id}`);
  });

  it('keeps a pasted token out of the answer, its address and the log, and names it to its own people', async () => {
    for (const text of [token, `Authorization: Bearer ${token}`, `whsec_${token}`]) {
      const { status, to, page } = await find(text);
      expect([status, to]).toEqual([200, undefined]);
      expect(page).toContain('This is a secret');
      expect(page).not.toContain(token);
      expect(page.includes('leaked one')).toBe(!text.startsWith('whsec'));
    }
    expect((await find(token, bound)).page).not.toContain('leaked one');
    const { headers } = await viewer.post('/payments/filter', { status: 'paid', order: token });
    expect(headers.location).toBe('/payments?status=paid');
    expect(JSON.stringify(console.lines)).not.toContain(token.slice(13));
  });

  it('is no way around the address: no list has a field for text', async () => {
    const lists = ['/', '/payments', '/deliveries', '/applications', '/audit', '/people'];
    const admin = await console.logIn('admin');
    for (const path of [...lists, '/applications/shop/events', '/reconcile']) {
      const { text } = await admin.get(path);
      const forms = text.match(/<form[^>]*method="get"[^]*?<\/form>/g) ?? [];
      for (const form of forms)
        expect(form, path).not.toMatch(
          /<textarea|<input(?![^>]*type="(?:hidden|checkbox|datetime-local)")/,
        );
    }
  });
});
