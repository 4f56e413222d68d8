import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../admin/operations/change.ts';
import { openCredentials } from '../../../../gateways/registry.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../../postgres/secrets/secret-box.ts';
import { aKeyRing, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('gateways', () => {
  it('are added with encrypted credentials, disabled and enabled', async () => {
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
    await expect(gateways.add(gateway, null)).rejects.toThrow('already exists');

    await gateways.setEnabled('acme', false, 'maintenance');
    await expect(gateways.setEnabled('acme', false, null)).rejects.toThrow('is already disabled');
    await expect(gateways.setEnabled('none', true, null)).rejects.toThrow('There is no gateway');
    const listed = (await gateways.list()).find(({ slug }) => slug === 'acme');
    expect(listed).toEqual({
      slug: 'acme',
      driver: 'zarinpal',
      kind: 'live',
      enabled: false,
      hasCredentials: true,
      silentUntil: null,
      timeZone: 'UTC',
      feeBasisPoints: null,
      feeFixed: null,
      feesReported: false,
      createdAt: expect.any(Date),
    });
    expect(JSON.stringify(await logOf('gateway:acme'))).not.toContain(merchantId);
  });

  it('book reported fees only where the gateway reports some', async () => {
    const { gateways } = operationsOn(records.sql);
    const feesOf = async (slug: string) => (await gateways.get(slug)).gateway.feesReported;
    await gateways.setAccount('acme', { feesReported: true }, 'compared with a settlement');
    expect(await feesOf('acme')).toBe(true);
    await gateways.setAccount('acme', { feeFixed: 25 }, null);
    expect(await feesOf('acme')).toBe(true);
    await expect(gateways.setAccount('sandbox', { feesReported: true }, null)).rejects.toThrow(
      'The gateway "sandbox" reports no fees',
    );
    await expect(gateways.setAccount('none', { feesReported: true }, null)).rejects.toThrow(
      'There is no gateway "none"',
    );
    await gateways.setAccount('acme', { feesReported: false }, null);
    expect(await feesOf('acme')).toBe(false);
  });

  it('seal what checks notifications by a key of its own, which opens no other credential', async () => {
    const [keyRing, notificationKeyRing] = [aKeyRing(), aKeyRing()];
    const { gateways } = operationsOn(records.sql, { keyRing, notificationKeyRing });
    const account = { slug: 'both', driver: 'stripe', kind: 'live' } as const;
    const parts = { secretKey: 'sk_live_1234', webhookSecrets: ['whsec_1234'] };
    const sealed = async () => {
      const [row] = await records.sql<{ credentials: string; notifications: string | null }[]>`
        select credentials, notification_secrets as notifications from gateways where slug = 'both'`;
      return row ?? expect.unreachable();
    };
    const [own, theirs] = [createSecretBox(keyRing), createSecretBox(notificationKeyRing)];
    await gateways.add({ ...account, credentials: JSON.stringify(parts) }, null);
    const { credentials, notifications } = await sealed();
    expect(JSON.parse(own.open(credentials, 'gateway:both'))).toEqual({
      secretKey: 'sk_live_1234',
    });
    expect(JSON.parse(theirs.open(notifications ?? '', 'notifications:both'))).toEqual({
      webhookSecrets: ['whsec_1234'],
    });
    for (const owner of ['gateway:both', 'notifications:both'])
      expect(() => theirs.open(credentials, owner)).toThrow('unable to authenticate');
    await gateways.setCredentials('both', '{"secretKey":"sk_live_5678"}', null);
    expect(await sealed()).not.toMatchObject({ credentials });
    expect(await sealed()).toMatchObject({ notifications });
    const none = '{"secretKey":"sk_live_5678","webhookSecrets":[]}';
    await gateways.setCredentials('both', none, null);
    const replaced = (await sealed()).notifications ?? '';
    expect(theirs.open(replaced, 'notifications:both')).toBe('{"webhookSecrets":[]}');
  });

  it('keep what only refunds need, unless a replacement has it or says that there is none', async () => {
    const keyRing = aKeyRing();
    const { gateways } = operationsOn(records.sql, { keyRing });
    const refunds = { accessToken: 'token-0123456789', accountId: 'account-1' };
    const account = async () => {
      const row = await createGateways(records.sql).getAccount('refunding');
      return openCredentials(createSecretBox(keyRing), row!);
    };
    const can = async () => {
      const [row] = await records.sql<{ can: boolean }[]>`
        select has_refund_credentials as can from gateways where slug = 'refunding'`;
      return row?.can;
    };
    const replace = (credentials: object) =>
      gateways.setCredentials('refunding', JSON.stringify(credentials), null);
    const credentials = JSON.stringify({ merchant: 'first', refunds });
    await gateways.add({ slug: 'refunding', driver: 'zibal', kind: 'live', credentials }, null);
    await replace({ merchant: 'second' });
    expect([await account(), await can()]).toEqual([{ merchant: 'second', refunds }, true]);
    const other = { ...refunds, accountId: 'account-2' };
    await replace({ merchant: 'second', refunds: other });
    expect(await account()).toEqual({ merchant: 'second', refunds: other });
    await expect(replace({ merchant: 'second', refunds: {} })).rejects.toThrow('refunds');
    for (const wrong of [{ refunds: false }, { refunds: '' }, { baseUrl: null }])
      await expect(replace({ merchant: 'second', ...wrong })).rejects.toThrow(
        Object.keys(wrong)[0],
      );
    await replace({ merchant: 'third', refunds: null });
    expect([await account(), await can()]).toEqual([{ merchant: 'third' }, false]);
  });

  it('need NOTIFICATIONS_KEY only where something checks notifications', async () => {
    const notificationBox = () => {
      throw new Error('NOTIFICATIONS_KEY is missing');
    };
    const { gateways } = operationsOn(records.sql, { notificationBox });
    const add = (slug: string, credentials: object) =>
      gateways.add(
        { slug, driver: 'stripe', kind: 'live', credentials: JSON.stringify(credentials) },
        null,
      );
    await add('silent', { secretKey: 'sk_live_1234' });
    const told = add('told', { secretKey: 'sk_live_1234', webhookSecrets: ['whsec_1234'] });
    await expect(told).rejects.toThrow('NOTIFICATIONS_KEY is missing');
  });

  it('accept new credentials only if they fit the account', async () => {
    const keyRing = aKeyRing();
    const { gateways } = operationsOn(records.sql, { keyRing });
    const [old, other] = ['first', 'second'].map((merchant) => JSON.stringify({ merchant }));
    await gateways.add({ slug: 'rolled', driver: 'zibal', kind: 'live', credentials: old! }, null);
    await gateways.setCredentials('rolled', other!, 'rotated');
    const sealed = async () =>
      (await createGateways(records.sql).getAccount('rolled'))?.credentials;
    expect(createSecretBox(keyRing).open((await sealed()) ?? '', 'gateway:rolled')).toBe(other);
    const unfit = gateways.setCredentials('rolled', '{"merchant":"zibal"}', null);
    await expect(unfit).rejects.toThrow('The merchant does not belong to a live account.');
    await expect(gateways.setCredentials('none', other!, null)).rejects.toThrow(
      'There is no gateway',
    );
    expect(createSecretBox(keyRing).open((await sealed()) ?? '', 'gateway:rolled')).toBe(other);
    const log = await logOf('gateway:rolled');
    expect(log.map(({ action }) => action)).toEqual(['gateway.credentials', 'gateway.add']);
    expect(JSON.stringify(log)).not.toMatch(/first|second/);
  });
});

it.each([
  ['acne', 'live', '{}', 'no gateway driver named "acne"'],
  ...['hidden', '["hidden"]', '"hidden"', 'null'].map(
    (text) => ['stripe', 'live', text, 'The credentials are not a JSON object.'] as const,
  ),
  ['zarinpal', 'live', '{"merchantId":"hidden"}', 'driver: merchantId is missing or wrong.'],
  ['sep', 'live', '{"terminalId":2015}', ': terminalId is a number, and must be a text in quotes.'],
  ['zarinpal', 'live', '{}', 'fit the driver: merchantId is missing or wrong.'],
  [
    'stripe',
    'live',
    '{"secretKey":"sk_test_hidden","webhookSecrets":["hidden"]}',
    ': webhookSecrets.0 is missing or wrong.',
  ],
  ['stripe', 'live', '{"secretKey":"sk_test_hidden","hidden":1}', ': there is an unknown field.'],
  [
    'stripe',
    'live',
    '{"secretKey":"sk_test_hidden"}',
    'The key does not belong to a live account.',
  ],
  [
    'zibal',
    'sandbox',
    '{"merchant":"hidden"}',
    'The merchant does not belong to a sandbox account.',
  ],
  ['payping', 'live', '{"testToken":"hidden-hidden"}', 'not named as one of a live account.'],
  ['zibal', 'live', '{"merchant":"m","baseUrl":"https://hidden/"}', 'on loopback only.'],
  ['sandbox', 'live', '{}', 'The sandbox driver moves no real money, so it cannot be live.'],
] as const)(
  'an account that does not fit is not saved, and the message shows no value: %s, %s, %s',
  async (driver, kind, credentials, why) => {
    const { gateways } = operationsOn(records.sql);
    const refused = gateways.add({ slug: 'unfit', driver, kind, credentials }, null);
    const refusal: unknown = await refused.catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(String(refusal)).toContain(why);
    expect(String(refusal)).not.toContain('hidden');
    expect((await gateways.list()).map(({ slug }) => slug)).not.toContain('unfit');
  },
);
