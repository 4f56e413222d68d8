import { beforeAll, describe, expect, it } from 'vitest';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';

const records = await forFile(startRecords());
const operations = operationsOn(records.sql);
const { applications, gateways, consequences } = operations;

/** At a terminal, where the admin says no. */
const ask = async (line: string) => {
  const { questions, notes } = await runLine(() => operations, words(line), { answer: 'no' });
  return questions.length > 0 ? questions.join() : notes;
};
const run = (line: string) => runLine(() => operations, words(line));

const pay = async (application: string, payments: number, fields: object) => {
  for (let n = 0; n < payments; n += 1) await records.created({ application, ...fields });
};

beforeAll(async () => {
  const insert = createGateways(records.sql).insert;
  for (const slug of ['toy', 'spare', 'off'])
    await insert({ slug, driver: 'sandbox', kind: 'sandbox', credentials: null });
  await gateways.setEnabled('off', false, null);
  const rials = { driver: 'zarinpal', credentials: 'sealed' } as const;
  await insert({ ...rials, slug: 'rials', kind: 'live' });
  await insert({ ...rials, slug: 'rials-test', kind: 'sandbox' });
  await insert({ ...rials, slug: 'bare', kind: 'sandbox', credentials: null });
});

describe('gateways of an application', () => {
  it.each([
    ['off', 'The gateway "off" is disabled, so it takes no payment.'],
    ['bare', 'The gateway "bare" has no credentials, so it takes no payment.'],
    ['rials', 'all gateways of an application are live, or all are sandboxes'],
  ])(
    'cannot be %s, as the default one, a fallback or that of a new application',
    async (slug, why) => {
      const own = await anApplicationOn(records.sql);
      const urls = { callbackUrls: ['https://a.example/'], webhookUrl: null };
      const fresh = { slug: 'unmade', ...urls };
      for (const refused of [
        () => applications.update(own, { defaultGateway: slug, fallbackGateways: ['toy'] }, null),
        () => applications.update(own, { fallbackGateways: ['toy', slug] }, null),
        () =>
          applications.create({ ...fresh, defaultGateway: slug, fallbackGateways: ['toy'] }, null),
        () =>
          applications.create({ ...fresh, defaultGateway: 'toy', fallbackGateways: [slug] }, null),
      ])
        await expect(refused()).rejects.toThrow(why);
      // Without a question, which would be about a change that is refused.
      expect(
        await ask(`applications update ${own} --gateway ${slug} --fallback-gateway toy`),
      ).toContain(why);
      expect(await applications.get(own)).toMatchObject({ defaultGateway: 'sandbox' });
    },
  );

  it('may be disabled where they were, but not the last one that takes payments', async () => {
    const own = await anApplicationOn(records.sql);
    await applications.update(own, { defaultGateway: 'spare', fallbackGateways: ['toy'] }, null);
    await gateways.setEnabled('spare', false, null);
    await applications.update(own, { fallbackGateways: ['toy', 'sandbox'] }, null);
    await expect(applications.update(own, { fallbackGateways: [] }, null)).rejects.toThrow(
      'no gateway that takes payments: "spare" is disabled',
    );
    const swapped = { defaultGateway: 'toy', fallbackGateways: ['spare'] };
    await expect(applications.update(own, swapped, null)).rejects.toThrow('"spare" is disabled');
    await gateways.setEnabled('spare', true, null);
  });

  it('are named with the payments of 30 days in currencies that they do not take', async () => {
    const own = await anApplicationOn(records.sql);
    await pay(own, 3, { currency: 'JPY', amount: 1_500 });
    await pay(own, 1, { currency: 'IRR', amount: 50_000 });
    await pay(own, 2, { currency: 'IRR', amount: 1 });
    const old = new Date(Date.now() - 31 * 86_400_000);
    await pay(own, 1, { currency: 'EUR', createdAt: old, updatedAt: old });
    const line = `applications update ${own} --gateway rials-test`;
    const question = await ask(line);
    expect(question).toContain(
      '"rials-test" takes no JPY, which 3 payments of the last 30 days have.',
    );
    expect(question).toContain(
      '"rials-test" does not take the amounts of 2 payments in IRR of the last 30 days.',
    );
    expect(question).toContain(`payments like 5 of the last 30 days: no gateway of ${own}`);
    expect(question).not.toMatch(/EUR|cannot be undone/);
    expect(await ask(`${line} --fallback-gateway toy`)).not.toContain('no gateway of');
    const inScript = await run(line);
    expect([inScript.code, inScript.notes]).toEqual([1, expect.stringContaining('Add --yes')]);
    expect(await applications.get(own)).toMatchObject({ defaultGateway: 'sandbox' });
    expect((await run(`${line} --yes`)).code).toBe(0);
    expect((await run(`applications update ${own} --gateway toy`)).code).toBe(0);
  });

  it('are named as sandboxes to those who took real money, and as live to those who test', async () => {
    const own = await anApplicationOn(records.sql);
    await pay(own, 2, { test: true, currency: 'IRR', amount: 50_000 });
    expect(await ask(`applications update ${own} --gateway rials`)).toContain(
      'A test token must name a sandbox in each create from now on: 2 payments of the last 30 days are tests.',
    );
    await applications.update(own, { defaultGateway: 'rials' }, null);
    await pay(own, 1, { gateway: 'rials', test: false, currency: 'IRR', amount: 50_000 });
    expect(await ask(`applications update ${own} --gateway toy`)).toContain(
      '"toy" is a sandbox, where nobody pays real money: 1 payment of the last 30 days went to live',
    );
  });
});

it('a gateway that no create may name any more is named with the payments that went there', async () => {
  const own = await anApplicationOn(records.sql);
  await applications.update(own, { allowedGateways: ['rials-test', 'toy', 'spare'] }, null);
  await pay(own, 2, { test: true, gateway: 'rials-test', currency: 'IRR', amount: 50_000 });
  await pay(own, 3, { test: true, gateway: 'toy' });
  const question = await ask(`applications update ${own} --no-allowed-gateway`);
  expect(question).toContain(
    'A create that names "rials-test" is then refused: 2 payments of the last 30 days went there.',
  );
  // Every test may name a built-in sandbox.
  expect(question).not.toMatch(/toy|spare/);
  expect((await run(`applications update ${own} --allowed-gateway rials-test`)).code).toBe(0);
});

describe('disabling', () => {
  it('a gateway names the applications without another one, with others that take less, and the rest', async () => {
    const [alone, less, safe, off] = [
      await anApplicationOn(records.sql),
      await anApplicationOn(records.sql),
      await anApplicationOn(records.sql),
      await anApplicationOn(records.sql),
    ];
    await applications.update(alone, { defaultGateway: 'toy', fallbackGateways: ['spare'] }, null);
    await applications.update(off, { defaultGateway: 'toy' }, null);
    await applications.setStatus(off, 'disabled', null);
    const fallbackGateways = ['rials-test'];
    await applications.update(less, { defaultGateway: 'toy', fallbackGateways }, null);
    await pay(less, 4, { currency: 'EUR' });
    await applications.update(safe, { defaultGateway: 'toy', fallbackGateways: ['sandbox'] }, null);
    await gateways.setEnabled('spare', false, null);
    const question = await ask('gateways disable toy');
    expect(question).toMatch(new RegExp(`have no gateway.*: (?:app-\\d+, )*${alone}(?:,|\\.)`));
    expect(question).toContain(
      `The other gateways of ${less} do not take 4 payments of the last 30 days (EUR).`,
    );
    expect(question).toMatch(new RegExp(`their other gateways: (?:app-\\d+, )*${safe}(?:,|\\.)`));
    expect(question).not.toMatch(new RegExp(`${off}\\b`));
    expect((await gateways.get('toy')).gateway.enabled).toBe(true);
  });

  it('an application names its open payments, and enabling it the lack of a gateway', async () => {
    const own = await anApplicationOn(records.sql);
    await pay(own, 2, {});
    await pay(own, 1, { test: true });
    const question = await ask(`applications disable ${own}`);
    expect(question).toContain(`${own} has 3 open payments. Payers can still pay`);
    expect(question).toContain('and the webhooks sent');
    await applications.update(own, { webhookUrl: null }, null);
    expect(await ask(`applications disable ${own}`)).not.toContain('webhooks');
    expect((await run(`applications disable ${own}`)).code).toBe(1);
    expect((await run(`applications disable ${own} --yes`)).code).toBe(0);
    expect(await consequences.ofSettings(own, { status: 'active' })).toBeNull();
    await records.sql`update applications set default_gateway = 'off' where slug = ${own}`;
    expect(await ask(`applications enable ${own}`)).toContain(
      `No gateway of ${own} takes payments`,
    );
  });
});

it('a gateway without credentials is not enabled', async () => {
  await records.sql`update gateways set enabled = false where slug = 'bare'`;
  await expect(gateways.setEnabled('bare', true, null)).rejects.toThrow(
    'The gateway "bare" has no credentials, so it would take no payment.',
  );
  expect((await gateways.get('bare')).gateway.enabled).toBe(false);
});

it('the last usable token of a mode that creates payments is named as such before it is revoked', async () => {
  const application = await anApplicationOn(records.sql);
  const issue = async (mode: 'live' | 'test', scopes: ('read' | 'create')[], days?: number) => {
    const expiresAt = days === undefined ? null : new Date(Date.now() + days * 86_400_000);
    const token = { application, mode, name: 'a', scopes, expiresAt };
    return (await operations.tokens.issue(token, null)).id;
  };
  const [first, second, reads, test] = [
    await issue('live', ['read', 'create']),
    await issue('live', ['create'], 1),
    await issue('live', ['read']),
    await issue('test', ['create']),
  ];
  expect(await ask(`tokens revoke ${application} ${first}`)).not.toContain('last usable');
  await records.sql`update tokens set expires_at = now() where application = ${application} and expires_at > now()`;
  const last = `can create no live payments until you issue another one`;
  expect(await ask(`tokens revoke ${application} ${first}`)).toContain(last);
  expect(await ask(`tokens revoke ${application} ${test}`)).toContain('create no test payments');
  for (const id of [second, reads])
    expect(await consequences.ofRevoking(application, id)).toBeNull();
  expect((await run(`tokens revoke ${application} ${first} --yes`)).code).toBe(0);
  expect(await consequences.ofRevoking(application, reads)).toBe(
    `It is the last usable live token of ${application}.`,
  );
});

it('a new token that nobody can use yet is named as such before it replaces another one', async () => {
  const application = await anApplicationOn(records.sql);
  const issue = async (scopes: ('read' | 'refund')[]) => {
    const token = { application, mode: 'live', name: 'a', scopes, expiresAt: null } as const;
    return (await operations.tokens.issue(token, null)).id;
  };
  const [refunds, reads] = [await issue(['refund']), await issue(['read'])];
  expect(await consequences.ofReplacing(application, refunds)).toBeNull();
  await records.sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 1)`;
  const waits = 'Nobody can use the new token until another admin confirms it';
  expect(await ask(`tokens replace ${application} ${refunds}`)).toContain(waits);
  expect(await ask(`tokens replace ${application} ${reads}`)).not.toContain(waits);
  await records.sql`delete from approvals where kind = 'refund'`;
});

describe('a limit', () => {
  it('of calls a minute is compared with the minutes of 30 days', async () => {
    const own = await anApplicationOn(records.sql);
    const createdAt = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000);
    await pay(own, 4, { createdAt });
    expect(await ask(`applications update ${own} --requests-per-minute 3`)).toContain(
      `In 1 minute of the last 30 days ${own} created more payments than 3: the API would have refused 1 payment.`,
    );
    expect((await run(`applications update ${own} --requests-per-minute 4`)).code).toBe(0);
  });

  it('of refunds in a day is compared with the payments of 30 days', async () => {
    const own = await anApplicationOn(records.sql);
    await pay(own, 2, { currency: 'EUR', amount: 5_000 });
    await pay(own, 1, { currency: 'JPY', amount: 5_000 });
    const limit = (text: string) => `refunds limit ${own} ${text} --reason agreed`;
    const question = await ask(limit('EUR --minor-units 4999'));
    expect(question).toContain('2 payments of the last 30 days are larger than 49.99 EUR');
    expect(question).toContain(`${own} then gives nothing back in JPY, which 1 payment`);
    expect((await run(limit('EUR --minor-units 5000'))).code).toBe(1);
    expect((await run(`${limit('EUR --minor-units 5000')} --yes`)).code).toBe(0);
    expect((await run(limit('JPY --minor-units 5000'))).code).toBe(0);
    expect(await ask(limit('EUR'))).toContain('gives nothing back in EUR, which 2 payments');
  });
});
