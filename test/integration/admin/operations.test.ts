import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../admin/change.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { aKeyRing, anApplicationOn, operationsOn } from '../../support/operations.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const strict = { targetRule: { allowLoopback: false } };
const anApplication = () => anApplicationOn(records.sql);
const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('applications', () => {
  it('are created, changed, disabled and enabled, each with its record', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    await applications.update(
      slug,
      { webhookUrl: 'https://app.example/new', requestsPerMinute: 600 },
      'moved',
    );
    await applications.setStatus(slug, 'disabled', 'unpaid');
    await applications.setStatus(slug, 'active', null);

    expect(await applications.get(slug)).toMatchObject({
      status: 'active',
      webhookUrl: 'https://app.example/new',
      requestsPerMinute: 600,
      defaultGateway: 'sandbox',
    });
    const log = await logOf(`application:${slug}`);
    expect(log.map(({ action }) => action)).toEqual([
      'application.enable',
      'application.disable',
      'application.update',
      'application.create',
    ]);
    expect(log[2]).toMatchObject({
      actor: 'ada',
      reason: 'moved',
      before: { webhook_url: 'https://app.example/webhook', requests_per_minute: 120 },
      after: { webhook_url: 'https://app.example/new', requests_per_minute: 600 },
    });
    expect(log[3]).toMatchObject({ before: null, after: { status: 'active' } });
  });

  it('have no query of their webhook URL in the log, but that it was changed', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    const urls = ['?key=one', '?key=two', '#?key=two', '?key=two'].map(
      (query) => `https://app.example/hook${query}`,
    );
    for (const webhookUrl of urls) await applications.update(slug, { webhookUrl }, null);
    const log = (await logOf(`application:${slug}`)).slice(0, urls.length);
    const [last, fragment, second, first] = log.map(({ after }) => after?.['webhook_url']);
    for (const url of [first, second, fragment])
      expect(url).toMatch(/^https:\/\/app\.example\/hook\?…[0-9a-f]{8}$/);
    expect(new Set([first, second, fragment]).size).toBe(3);
    expect([last, log[1]?.before?.['webhook_url']]).toEqual([second, second]);
    expect((await applications.get(slug)).webhookUrl).toBe(urls.at(-1));
  });

  it('change nothing and log nothing where they are so already, or are not there', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    await expect(applications.setStatus(slug, 'active', null)).rejects.toThrow('is so already');
    await expect(applications.setStatus('nobody', 'active', null)).rejects.toThrow(
      'There is no application "nobody"',
    );
    expect(await logOf(`application:${slug}`)).toHaveLength(1);
    expect(await logOf('application:nobody')).toEqual([]);
  });

  it.each([
    ['https://10.0.0.1/hook', 'private, reserved or internal'],
    ['https://[::ffff:7f00:1]/', 'private, reserved or internal'],
    ['https://2130706433/', 'this machine'],
    ['http://app.example/', 'https'],
    ['', 'is not a URL'],
    ['https://user:pass@app.example/', 'user name or password'],
  ])('FS-40: the webhook URL %s is refused when it is saved', async (webhookUrl, why) => {
    const { applications } = operationsOn(records.sql, strict);
    const slug = await anApplication();
    await expect(applications.update(slug, { webhookUrl }, null)).rejects.toThrow(why);
    const fresh = {
      slug: 'fresh',
      defaultGateway: 'sandbox',
      callbackUrls: ['https://a.example/'],
      webhookUrl,
    };
    await expect(applications.create(fresh, null)).rejects.toThrow(why);
    expect((await applications.get(slug)).webhookUrl).toBe('https://app.example/webhook');
  });

  it('FS-40: a name is refused when one of its addresses is internal, and accepted while it has none', async () => {
    const slug = await anApplication();
    const save = (resolve: () => Promise<string[]>) =>
      operationsOn(records.sql, { ...strict, resolve }).applications.update(
        slug,
        { webhookUrl: 'https://inside.example/hook' },
        null,
      );
    const inside = async () => ['93.184.216.34', '10.1.2.3'];
    await expect(save(inside)).rejects.toThrow('has a private, reserved or internal address');
    const unknown = () => Promise.reject(new Error('no such name'));
    expect(await save(unknown)).toMatchObject({ webhookUrl: 'https://inside.example/hook' });
  });

  it.each([
    [{ slug: 'Not A Slug' }, 'is not a slug'],
    [{ slug: 'shop' }, 'There is an application "shop" already'],
    [{ defaultGateway: 'nowhere' }, 'There is no gateway "nowhere"'],
    [{ callbackUrls: [] }, 'at least one callback URL'],
    [{ callbackUrls: ['javascript:alert(1)'] }, 'must be an https URL'],
    [{ callbackUrls: ['http://app.example/'] }, 'must be an https URL'],
  ])('are refused with %j: %s', async (fields, why) => {
    const application = {
      slug: 'unmade',
      defaultGateway: 'sandbox',
      callbackUrls: ['https://app.example/return'],
      webhookUrl: null,
      ...fields,
    };
    const { applications } = operationsOn(records.sql, strict);
    await expect(applications.create(application, null)).rejects.toThrow(why);
    expect(await logOf('application:unmade')).toEqual([]);
  });
});

describe('gateways', () => {
  it('are added with sealed credentials, disabled and enabled', async () => {
    const keyRing = aKeyRing();
    const { gateways } = operationsOn(records.sql, { keyRing });
    const merchantId = '7b0f7a5e-0000-4000-8000-00005ec2e700';
    const credentials = JSON.stringify({ merchantId });
    const gateway = { slug: 'acme', driver: 'zarinpal', kind: 'live', credentials } as const;
    await gateways.add(gateway, null);
    const [row] = await records.sql<{ credentials: string }[]>`
      select credentials from gateways where slug = 'acme'`;
    const box = createSecretBox(keyRing);
    expect(box.open(row?.credentials ?? '', 'gateway:acme')).toBe(credentials);
    expect(() => box.open(row?.credentials ?? '', 'acme')).toThrow('unable to authenticate');
    await expect(gateways.add(gateway, null)).rejects.toThrow('already');

    await gateways.setEnabled('acme', false, 'maintenance');
    await expect(gateways.setEnabled('acme', false, null)).rejects.toThrow('is so already');
    await expect(gateways.setEnabled('none', true, null)).rejects.toThrow('There is no gateway');
    const listed = (await gateways.list()).find(({ slug }) => slug === 'acme');
    expect(listed).toEqual({
      ...{ slug: 'acme', driver: 'zarinpal', kind: 'live' },
      ...{ enabled: false, hasCredentials: true },
    });
    expect(JSON.stringify(await logOf('gateway:acme'))).not.toContain(merchantId);
  });

  it('take other credentials that fit the account, and no others', async () => {
    const keyRing = aKeyRing();
    const { gateways } = operationsOn(records.sql, { keyRing });
    const [old, other] = ['first', 'second'].map((merchant) => JSON.stringify({ merchant }));
    await gateways.add({ slug: 'rolled', driver: 'zibal', kind: 'live', credentials: old! }, null);
    await gateways.setCredentials('rolled', other!, 'rotated');
    const sealed = async () =>
      (await createGateways(records.sql).getAccount('rolled'))?.credentials;
    expect(createSecretBox(keyRing).open((await sealed()) ?? '', 'gateway:rolled')).toBe(other);
    const unfit = gateways.setCredentials('rolled', '{"merchant":"zibal"}', null);
    await expect(unfit).rejects.toThrow('The merchant is not one of a live account.');
    await expect(gateways.setCredentials('none', other!, null)).rejects.toThrow('is no gateway');
    expect(createSecretBox(keyRing).open((await sealed()) ?? '', 'gateway:rolled')).toBe(other);
    const log = await logOf('gateway:rolled');
    expect(log.map(({ action }) => action)).toEqual(['gateway.credentials', 'gateway.add']);
    expect(JSON.stringify(log)).not.toMatch(/first|second/);
  });

  it('a driver that the service does not have is refused', async () => {
    const { gateways } = operationsOn(records.sql);
    const gateway = { slug: 'unmade', driver: 'acne', kind: 'live', credentials: '{}' } as const;
    await expect(gateways.add(gateway, null)).rejects.toThrow('no gateway driver named "acne"');
  });

  it.each(['not json', '[]', '"text"', 'null'])(
    'credentials that are %s are refused',
    async (text) => {
      const { gateways } = operationsOn(records.sql);
      const gateway = {
        slug: 'unmade',
        driver: 'stripe',
        kind: 'live',
        credentials: text,
      } as const;
      const refused = gateways.add(gateway, null);
      await expect(refused).rejects.toThrow('The credentials are not a JSON object.');
      await expect(refused).rejects.toBeInstanceOf(Refusal);
    },
  );
});

describe('credentials that do not fit the driver', () => {
  const hidden = 'sk_test_hidden';
  it.each([
    ['zarinpal', 'live', { merchantId: hidden }, 'fit the driver: merchantId is missing or wrong.'],
    ['zarinpal', 'live', {}, 'fit the driver: merchantId is missing or wrong.'],
    ['stripe', 'live', { secretKey: hidden, webhookSecrets: [hidden] }, ': webhookSecrets.0 is missing or wrong.'],
    ['stripe', 'live', { secretKey: hidden, [hidden]: 1 }, ': there is a field that it does not know.'],
    ['stripe', 'live', { secretKey: hidden }, 'The key is not one of a live account.'],
    ['zibal', 'sandbox', { merchant: hidden }, 'The merchant is not one of a sandbox account.'],
    ['payping', 'live', { testToken: hidden }, 'The token is not named as one of a live account.'],
    ['zibal', 'live', { merchant: 'm', baseUrl: `https://${hidden}/` }, 'on loopback only.'],
    ['sandbox', 'live', {}, 'Its money is not real: it cannot be live.'],
  ] as const)('%s, %s, %j: not saved, without a value', async (driver, kind, fields, why) => {
    const credentials = JSON.stringify(fields);
    const { gateways } = operationsOn(records.sql);
    const refusal: unknown = await gateways
      .add({ slug: 'unfit', driver, kind, credentials }, null)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(String(refusal)).toContain(why);
    expect(String(refusal)).not.toContain(hidden);
    expect((await gateways.list()).map(({ slug }) => slug)).not.toContain('unfit');
  });
});

describe('the audit log', () => {
  it('can be written and read, and nothing else, by any statement', async () => {
    await anApplication();
    const refusals = [
      records.sql`update audit_log set actor = 'somebody else'`,
      records.sql`delete from audit_log`,
      records.sql`truncate audit_log`,
    ];
    for (const refused of refusals)
      await expect(refused).rejects.toThrow('audit_log is append-only');
  });

  it('is written in the very transaction of the change', async () => {
    const slug = await anApplication();
    const [row] = await records.sql<{ same: boolean }[]>`
      select a.xmin::text = l.xmin::text as same
      from applications a join audit_log l on l.subject = 'application:' || a.slug
      where a.slug = ${slug}`;
    expect(row?.same).toBe(true);
  });

  it('has no record of a change that failed, and no change is without its record', async () => {
    const broken = operationsOn(records.sql, { actor: '\0' });
    const slug = await anApplication();
    // Postgres refuses the record, and with it the change.
    const refused = broken.applications.setStatus(slug, 'disabled', null);
    await expect(refused).rejects.toThrow('invalid byte sequence');
    expect((await broken.applications.get(slug)).status).toBe('active');
  });
});
