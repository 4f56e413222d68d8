import { describe, expect, it } from 'vitest';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
const { journey } = await service.anApplication();

const sent = await journey.atGateway();
await journey.choose(sent, 'pay_and_close');
const unsent = await journey.create();

const base = (id: string) => `/api/v1/payments/${id}`;
/** Not by the journey: the API's description has no such link. */
const open = (link: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${link}`, { headers, redirect: 'manual' });

/** Links as chats, mail programs and people change them.  */
const changes: readonly (readonly [string, (link: string, id: string) => string])[] = [
  ['a full stop behind it', (link) => `${link}.`],
  ['a comma behind it', (link) => `${link},`],
  ['a bracket behind it', (link) => `${link})`],
  ['a quotation mark behind it', (link) => `${link}%22`],
  ['a typographic one', (link) => `${link}%E2%80%9D`],
  ['a tag behind it', (link) => `${link}%3Cbr%3E`],
  ['a zero-width space behind it', (link) => `${link}%E2%80%8B`],
  ['a slash behind it', (link) => `${link}/`],
  ['two slashes in it', (link) => link.replace('/v1/', '/v1//')],
  ['lower case', (link) => link.toLowerCase()],
  ['upper case', (link) => link.toUpperCase()],
  ['parameters of a campaign', (link) => `${link}?fbclid=IwAR0&utm_source=mail`],
  ['an encoded id', (link) => link.replace('PAY_', 'PAY%5F')],
  ['a full stop behind the id', (link, id) => link.replace(id, `${id}.`)],
  ['angle brackets around the id', (link, id) => link.replace(id, `%3C${id}%3E`)],
  ['text behind a space', (link) => `${link}%20to%20pay`],
];

describe('a link of a payer that was changed on its way', () => {
  it.each(changes)('leads to the gateway and back to the shop: %s', async (_, change) => {
    const there = await open(change(`${base(unsent)}/checkout`, unsent));
    expect(there.status).toBeOneOf([302, 503]);
    const answer = await open(change(`${base(sent)}/return`, sent));
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toContain(`payment_id=${sent}`);
  });

  it.each([
    ...['', '/', '/check', '/ret'].map((end) => `${base(sent)}${end}`),
    '/',
    '/api',
    '/api/',
    '/api/v1/',
    '/api/v1/payments',
    '/api/v1/sandbox',
    '//API/v1/payments/',
  ])('shows a page that helps if no more is left of it than %s', async (path) => {
    const answer = await open(path, { accept: 'text/html,application/xhtml+xml' });
    expect(answer.status).toBeOneOf([401, 404]);
    expect(answer.headers.get('content-type')).toContain('text/html');
    expect(answer.headers.get('content-language')).toBe('en');
    expect(await answer.text()).toContain('This link is not complete');
  });

  it('stays JSON for a program, and at what is no part of a link', async () => {
    const answer = await journey.call('GET', base(sent));
    expect(answer.json).toMatchObject({ error: { code: 'UNAUTHENTICATED' } });
    for (const path of ['/api/v1/me', '/api/v1/nowhere', '/nowhere', '/apis']) {
      const other = await open(path, { accept: 'text/html' });
      expect(other.headers.get('content-type')).toContain('application/json');
    }
  });
});

describe('a link of a payer that nobody opens', () => {
  const stateOf = async (id: string) => {
    const [row] = await service.sql`
      select status, checkout_at, inquired_at from payments where id = ${id}`;
    return row;
  };
  it('is not counted as a visit: HEAD, prefetch', async () => {
    const id = await journey.create();
    await until(
      'it is opened',
      async () => (await journey.call('HEAD', `${base(id)}/checkout`)).status === 200,
    );
    const before = await stateOf(id);
    expect(before).toMatchObject({ status: 'pending', checkout_at: null });
    expect((await journey.call('HEAD', `${base(id)}/return`)).status).toBe(303);
    for (const [name, value] of [
      ['sec-purpose', 'prefetch;prerender'],
      ['purpose', 'prefetch'],
      ['x-moz', 'prefetch'],
    ] as const)
      for (const page of ['checkout', 'return', 'outcome']) {
        const answer = await journey.call('GET', `${base(id)}/${page}`, {
          headers: { [name]: value },
        });
        expect(answer.status, name).toBe(429);
        expect(answer.headers.get('retry-after')).toBe('1');
      }
    expect(await stateOf(id)).toEqual(before);
  });
});
