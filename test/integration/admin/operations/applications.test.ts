import { describe, expect, it } from 'vitest';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';
import { aReceiver } from '../../../support/data/receivers.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const strict = { targetRule: { allowLoopback: false } };
const anApplication = () => anApplicationOn(records.sql);
/** An application that the tests below try to create. */
const unmade = {
  slug: 'unmade',
  defaultGateway: 'sandbox',
  callbackUrls: ['https://a.example/'],
  webhookUrl: null,
};
const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('applications', () => {
  it('are created, updated, disabled and enabled, each with an audit record', async () => {
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

  it('have a receiver that is well only once it has accepted an event, and while no attempt fails', async () => {
    const { applications } = operationsOn(records.sql);
    const receiver = aReceiver(records);
    const health = async () => {
      const { state, shown, lastError } = await applications.receiver('shop', false);
      return [state, shown, lastError];
    };
    const [first, second] = [await receiver.event(), await receiver.event()];
    expect(await health()).toEqual(['ok', 'unproven', null]);
    await receiver.refuse(first);
    expect(await health()).toEqual(['ok', 'doubtful', 'http_status']);
    await receiver.accept(second);
    expect(await health()).toEqual(['ok', 'doubtful', 'http_status']);
    await receiver.accept(first);
    expect(await health()).toEqual(['ok', 'ok', null]);
    expect((await applications.receiver('quiet', false)).shown).toBe('none');
  });

  it('have fallback gateways of one kind, each of which exists, with an audit record', async () => {
    const { applications, gateways } = operationsOn(records.sql);
    for (const slug of ['second', 'third', 'fourth', 'fifth', 'sixth'])
      await gateways.add({ slug, driver: 'sandbox', kind: 'sandbox', credentials: null }, null);
    const credentials = JSON.stringify({ merchantId: crypto.randomUUID() });
    await gateways.add({ slug: 'real', driver: 'zarinpal', kind: 'live', credentials }, null);
    const slug = await anApplication();
    const update = (fallbackGateways: string[], defaultGateway?: string) =>
      applications.update(
        slug,
        { fallbackGateways, ...(defaultGateway && { defaultGateway }) },
        null,
      );
    expect(await update(['second', 'third'])).toMatchObject({
      defaultGateway: 'sandbox',
      fallbackGateways: ['second', 'third'],
    });
    expect((await logOf(`application:${slug}`))[0]).toMatchObject({
      before: { fallback_gateways: [] },
      after: { fallback_gateways: ['second', 'third'] },
    });
    await expect(update(['second', 'nobody'])).rejects.toThrow('no gateway "nobody"');
    await expect(update(['second', 'real'])).rejects.toThrow('"real" is live');
    await expect(update(['second', 'second'])).rejects.toThrow('named twice');
    await expect(update(['second', 'sandbox'])).rejects.toThrow('its own fallback');
    await expect(update(['second', 'third', 'fourth', 'fifth', 'sixth'])).rejects.toThrow(
      'at most 4',
    );
    // The default one alone changes: it must fit the others.
    await expect(applications.update(slug, { defaultGateway: 'real' }, null)).rejects.toThrow(
      'live',
    );
    await expect(applications.update(slug, { defaultGateway: 'third' }, null)).rejects.toThrow(
      'its own fallback',
    );
    expect(await update([], 'real')).toMatchObject({ fallbackGateways: [] });
  });

  it('may name further gateways of any kind, each of which exists, with an audit record', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    const allow = (allowedGateways: string[]) =>
      applications.update(slug, { allowedGateways }, 'agreed');
    expect(await allow(['real', 'second'])).toMatchObject({ allowedGateways: ['real', 'second'] });
    expect((await logOf(`application:${slug}`))[0]).toMatchObject({
      ...{ action: 'application.update', reason: 'agreed' },
      before: { allowed_gateways: [] },
      after: { allowed_gateways: ['real', 'second'] },
    });
    await expect(allow(['second', 'nobody'])).rejects.toThrow('no gateway "nobody"');
    await expect(allow(['second', 'second'])).rejects.toThrow('named twice');
    await expect(allow(Array.from({ length: 51 }, (_, n) => `g-${n}`))).rejects.toThrow(
      'at most 50',
    );
    expect(await allow([])).toMatchObject({ allowedGateways: [] });
  });

  it('show a hash instead of the webhook URL’s query in the audit log', async () => {
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

  it('refuse a change that changes nothing, and an unknown application', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    await expect(applications.setStatus(slug, 'active', null)).rejects.toThrow(
      'already has these settings',
    );
    await expect(applications.setStatus('unknown', 'active', null)).rejects.toThrow(
      'There is no application "unknown"',
    );
    expect(await logOf(`application:${slug}`)).toHaveLength(1);
    expect(await logOf('application:unknown')).toEqual([]);
  });

  it.each([
    [{ webhookUrl: 'https://10.0.0.1/hook' }, 'private, reserved or internal'],
    [{ webhookUrl: 'https://[::ffff:7f00:1]/' }, 'private, reserved or internal'],
    [{ webhookUrl: 'https://2130706433/' }, 'this machine'],
    [{ webhookUrl: 'http://app.example/' }, 'https'],
    [{ webhookUrl: '' }, 'is not a URL'],
    [{ webhookUrl: 'https://user:pass@app.example/' }, 'user name or password'],
    [{ displayName: 'x'.repeat(61) }, 'more than 60 characters'],
    [{ displayName: 'Shop\u202e' }, 'invisible characters'],
    [{ displayName: 'Two\nlines' }, 'invisible characters'],
    [{ displayName: '\u200b' }, 'invisible characters'],
    [{ displayName: '***' }, 'has no letter'],
    [{ displayName: '' }, 'has no letter'],
  ])('refuse %j in a change and in a create', async (fields, why) => {
    const { applications } = operationsOn(records.sql, strict);
    const slug = await anApplication();
    await expect(applications.update(slug, fields, null)).rejects.toThrow(why);
    await expect(applications.create({ ...unmade, ...fields }, null)).rejects.toThrow(why);
    expect(await logOf(`application:${slug}`)).toHaveLength(1);
  });

  it('show payers a name of 60 characters, with the joiners of Persian', async () => {
    const { applications } = operationsOn(records.sql);
    const slug = await anApplication();
    for (const displayName of ['😀'.repeat(59) + 'a', 'فروشگاه کتاب‌ها', null])
      expect(await applications.update(slug, { displayName, locale: 'fa' }, null)).toMatchObject({
        displayName,
        locale: 'fa',
      });
    const [last, before] = await logOf(`application:${slug}`);
    expect(last?.before?.['display_name']).toBe(before?.after?.['display_name']);
  });

  it('refuse a host name with an internal address, and accept one without an address', async () => {
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
    [{ slug: 'shop' }, 'The application "shop" already exists'],
    [{ defaultGateway: 'nowhere' }, 'There is no gateway "nowhere"'],
    [{ callbackUrls: [] }, 'at least one callback URL'],
    [{ callbackUrls: ['javascript:alert(1)'] }, 'must be an https URL'],
    [{ callbackUrls: ['http://app.example/'] }, 'must be an https URL'],
  ])('refuse %j: %s', async (fields, why) => {
    const { applications } = operationsOn(records.sql, strict);
    await expect(applications.create({ ...unmade, ...fields }, null)).rejects.toThrow(why);
    expect(await logOf('application:unmade')).toEqual([]);
  });
});
