import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../api/payments/idempotency.ts';
import { parseJson } from '../../../../contract/json.ts';
import { problemsOf, refusalOf } from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { rawRequest } from '../../../support/servers/raw-http.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useOwnApi());

const order = { order_id: 'o-1', amount: 1250, currency: 'EUR' };

const aCaller = async () => {
  const { application, token, issue } = await service.anApplication();
  const { sql } = service;
  return {
    application,
    token,
    issue,
    create: createWith(token),
    count: async () => {
      const [row] = await sql<{ payments: number; keys: number }[]>`
        select (select count(*) from payments where application = ${application}) as payments,
          (select count(*) from idempotency_keys where application = ${application}) as keys`;
      return row;
    },
  };
};
const createWith =
  (token: string, url = service.url) =>
  (key: string, body: unknown = order) =>
    createJourney({ url }, token).request('POST', '/api/v1/payments', body, {
      'idempotency-key': key,
    });

/** Options of Node with which a process has a clock that many hours ahead. */
const shiftClock = (hours: number) => {
  const code = `const { now } = Date; const RealDate = Date;
    Date.now = () => now() + ${hours * 3_600_000};
    globalThis.Date = new Proxy(RealDate, {
      construct: (_, args) => new RealDate(...(args.length ? args : [Date.now()])),
    });`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
};
const isAboutClock = (line: string) => line.includes('more than a minute apart');

/** The refusal of another request with the same key. */
const reused = [422, 'IDEMPOTENCY_KEY_REUSED'];
/** Without the ids, addresses and times that the service makes, which hold any digits. */
const ownTextOf = ({ text }: Answer) =>
  text.replaceAll(/\b(?:PAY_|req_)\w+|\d{4}-\d\d-\d\dT[\d:.+]+/g, '');

const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed');

describe('Idempotency-Key', () => {
  it('tells payers apart, and keeps a fingerprint that only the key makes', async () => {
    const { application, create } = await aCaller();
    const payer = { mobile: '09121234567', email: 'ada@shop.example', name: 'Ada', locale: 'fa' };
    const body = { ...order, payer };
    const first = await create('payer', body);
    expect(first.status, first.text).toBe(201);
    expect(ownTextOf(first)).not.toMatch(/payer|Ada|shop.example|0912/);
    const again = await create('payer', { payer: { ...payer }, ...order });
    expect([again.text, isReplay(again)]).toEqual([first.text, 'true']);
    for (const other of [
      order,
      { ...order, payer: {} },
      { ...order, payer: { ...payer, mobile: '09121234568' } },
      { ...order, payer: { ...payer, locale: 'de' } },
    ])
      expect(refusalOf(await create('payer', other))).toEqual(reused);
    const [row] = await service.sql<{ fingerprint: Buffer }[]>`
      select fingerprint from idempotency_keys where application = ${application}`;
    const plain = createHash('sha256').update(JSON.stringify(body)).digest();
    expect(row!.fingerprint).toHaveLength(32);
    expect(row!.fingerprint.equals(plain)).toBe(false);
    expect(fingerprintOf(parseJson(JSON.stringify(body)))).not.toEqual(row!.fingerprint);
  });

  it('takes null fields of a payer as absent, and refuses what is unknown or wrong without a quote', async () => {
    const { create } = await aCaller();
    for (const payer of [null, {}, [], { mobile: null, email: null }, { locale: 'xx-YY-evil' }])
      expect((await create(`taken ${JSON.stringify(payer)}`, { ...order, payer })).status).toBe(
        201,
      );
    const answer = await create('refused', {
      ...order,
      payer: {
        mobile: 9121234567,
        email: ['a@b.example'],
        name: { first: 'Ada' },
        card: '6037991234567890',
      },
    });
    expect(answer.status).toBe(422);
    expect(ownTextOf(answer)).not.toMatch(/6037|9121|b\.example|Ada/);
    expect(problemsOf(answer)).toMatchObject([
      { path: 'payer.mobile', rule: 'invalid_type' },
      { path: 'payer.email', rule: 'invalid_type' },
      { path: 'payer.name', rule: 'invalid_type' },
      { path: 'payer.card', rule: 'unknown_field' },
    ]);
  });

  it('leaves out of a payer what nobody can use, names the fields, and repeats that', async () => {
    const { application, create } = await aCaller();
    const payer = { mobile: '9121234567', email: ' Ada@shop.example. ', name: '', locale: 'C' };
    const first = await create('ignored', { ...order, payer });
    expect([first.status, first.json['payer_ignored']]).toEqual([201, ['mobile', 'locale']]);
    expect(ownTextOf(first)).not.toMatch(/912|shop\.example/);
    const again = await create('ignored', { ...order, payer });
    expect([again.text, isReplay(again)]).toEqual([first.text, 'true']);
    // The opening moves it from the service to the sandbox.
    const kept = await service.sql`
      select from payments p left join payers y on y.payment_id = p.id
        left join sandbox_payments s on s.payment_id = p.id
      where p.application = ${application} and (y.sealed is not null or s.payer is not null)`;
    expect(kept).toHaveLength(1);
  });

  it('keeps no key as it was typed', async () => {
    const { application, create } = await aCaller();
    const key = 'card 6037991234567890 of Sara';
    const first = await create(key, order);
    expect((await create(key, order)).text).toBe(first.text);
    const kept = await service.sql`
      select key from idempotency_keys where application = ${application}`;
    expect(kept).toEqual([{ key: expect.stringMatching(/^[\w-]{43}$/) }]);
  });

  it('creates one payment from 20 parallel requests on two processes', async () => {
    const { token, count } = await aCaller();
    const { url } = await service.anotherApi();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        createWith(token, index % 2 === 0 ? url : service.url)('twins'),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => isReplay(answer) === null)).toHaveLength(1);
    expect(await count()).toEqual({ payments: 1, keys: 1 });
  });

  it('repeats the same bytes and headers after the payment has changed', async () => {
    const { application, create } = await aCaller();
    const first = await create('again', { ...order, metadata: { b: 1, a: 2 } });
    await service.sql`update payments set order_id = 'changed' where application = ${application}`;
    const second = await create('again', { ...order, metadata: { b: 1, a: 2 } });
    expect(first.headers.get('location')).toContain(String(first.json['payment_id']));
    expect(isReplay(first)).toBeNull();
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(isReplay(second)).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
  });

  it('ignores the order of keys and white space, but rejects any changed value', async () => {
    const { create, count } = await aCaller();
    const written =
      '{"order_id":"o","amount":5,"currency":"EUR","metadata":{"1":1.0,"b":[1,2],"a":"x"}}';
    const first = await create('order', written);
    expect(first.status, first.text).toBe(201);
    const shuffled =
      ' {"metadata": {"a":"\\u0078", "b":[1, 2],"1":1.0},\n"currency":"EUR","amount":5,"order_id":"o"}';
    expect(await create('order', shuffled)).toMatchObject({ status: 201, text: first.text });
    for (const other of [
      written.replace('"amount":5', '"amount":6'),
      written.replace('1.0', '1'),
      written.replace('1.0', '1.00'),
      written.replace('1.0', '"1.0"'),
      written.replace('[1,2]', '[2,1]'),
      written.replace('"x"', '"X"'),
      written.replace('"x"}', '"x","c":null}'),
      written.replace('"o"', '"o","description":"x"'),
    ]) {
      expect(refusalOf(await create('order', other)), other).toEqual(reused);
    }
    expect(await count()).toEqual({ payments: 1, keys: 1 });
  });

  it('is scoped to an application and a token mode, not to a token', async () => {
    const one = await aCaller();
    const other = await aCaller();
    const first = await one.create('scope');
    const sameMode = await createWith(await one.issue('test'))('scope');
    const otherMode = await createWith(await one.issue('live'))('scope');
    const foreign = await other.create('scope');
    expect(sameMode.text).toBe(first.text);
    const ids = [first, otherMode, foreign].map(({ json }) => json['payment_id']);
    expect(new Set(ids).size).toBe(3);
  });

  it.each([-26, 26])(
    'is stored for 25 hours also by a process whose clock is %i hours off, which says so',
    async (hours) => {
      const { application, token, count } = await aCaller();
      const { url, process } = await service.anotherApi({ NODE_OPTIONS: shiftClock(hours) });
      const create = createWith(token, url);
      const first = await create('off');
      expect((await create('off')).text).toBe(first.text);
      expect(await count()).toEqual({ payments: 1, keys: 1 });
      const [kept] = await service.sql<{ hours: string }[]>`
        select extract(epoch from expires_at - now()) / 3600 as hours from idempotency_keys
        where application = ${application}`;
      expect(Math.round(Number(kept?.hours))).toBe(25);
      const line = await until('the log says it', () => process.lines.find(isAboutClock));
      // Within 5 seconds: on a busy machine the round trip to Postgres counts as an offset.
      const { offset_seconds } = JSON.parse(line) as { offset_seconds: number };
      expect(offset_seconds).toBeCloseTo(hours * 3600, -1);
      expect(service.api.lines.find(isAboutClock)).toBeUndefined();
    },
  );

  it('is free after the hours for which it is stored', async () => {
    const { application, create } = await aCaller();
    const first = await create('kept');
    await service.sql`
      update idempotency_keys set expires_at = now() where application = ${application}`;
    const second = await create('kept', { ...order, amount: 9 });
    expect(second.status, second.text).toBe(201);
    expect(second.json['payment_id']).not.toBe(first.json['payment_id']);
    expect((await create('kept', { ...order, amount: 9 })).text).toBe(second.text);
  });

  it('is not stored by a failed request, so that a valid body can use it', async () => {
    const { create, count } = await aCaller();
    expect(await create('fails', { ...order, amount: 0 })).toMatchObject({ status: 422 });
    expect(await create('fails', '{')).toMatchObject({ status: 400 });
    expect(await count()).toEqual({ payments: 0, keys: 0 });
    const valid = await create('fails');
    expect(valid.status, valid.text).toBe(201);
    expect(isReplay(valid)).toBeNull();
  });

  it('repeats the response after the settings have changed', async () => {
    const { application, create } = await aCaller();
    const body = { ...order, callback_url: 'http://127.0.0.1:9/other?kept=1' };
    const first = await create('settings', body);
    const { sql } = service;
    await sql`
      update applications set callback_urls = '{https://new.example/}' where slug = ${application}`;
    expect(await create('settings', body)).toMatchObject({ status: 201, text: first.text });
    expect(refusalOf(await create('settings', { ...body, amount: 1 }))).toEqual(reused);
    expect(await create('another', body)).toMatchObject({ status: 422 });
  });

  it.each([
    ['k', 'k'],
    ['k', 'other'],
    ['', 'k'],
  ])('is rejected if it is given in two lines: %j and %j', async (...lines) => {
    const { token, create, count } = await aCaller();
    const answer = await rawRequest(`${service.url}/api/v1/payments`, {
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': lines,
      },
      body: JSON.stringify(order),
    });
    expect(refusalOf(answer)).toEqual([400, 'INVALID_IDEMPOTENCY_KEY']);
    expect(await count()).toEqual({ payments: 0, keys: 0 });
    const joined = await create(lines.join(', '));
    expect(joined.status, 'one line may contain a comma').toBe(201);
  });

  it.each([
    ['', 400],
    ['a'.repeat(256), 400],
    ['umlaut-ä', 400],
    ['tab\tinside', 400],
    ['a'.repeat(255), 201],
    ['!~ #"', 201],
  ])('a create with the key %j gets %i', async (key, status) => {
    const { create } = await aCaller();
    const answer = await create(key);
    const code = status === 400 ? 'INVALID_IDEMPOTENCY_KEY' : undefined;
    expect(refusalOf(answer)).toEqual([status, code]);
  });
});
