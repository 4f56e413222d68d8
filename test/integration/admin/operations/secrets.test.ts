import { describe, expect, it } from 'vitest';
import { createChange } from '../../../../admin/operations/change.ts';
import { createSecretOperations } from '../../../../admin/operations/secrets.ts';
import type { Queries, Sql } from '../../../../postgres/driver/sql.ts';
import { openCredentials } from '../../../../gateways/registry.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { createSecretBox } from '../../../../postgres/secrets/secret-box.ts';
import { createWebhookSecrets } from '../../../../postgres/secrets/webhook-secrets.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import {
  aKeyRing,
  operationsOn,
  type OperationsOptions,
} from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

let made = 0;

/** A new application with its first webhook secret. */
const anApplicationWithSecret = async (options: OperationsOptions = {}) => {
  const slug = `app-${(made += 1)}`;
  const { secret } = await operationsOn(records.sql, options).applications.create(
    {
      slug,
      defaultGateway: 'sandbox',
      callbackUrls: ['https://app.example/return'],
      webhookUrl: 'https://app.example/webhook',
    },
    null,
  );
  return { application: slug, secret };
};
const anApplication = async () => (await anApplicationWithSecret()).application;

const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('webhook secrets', () => {
  it('overlap for 24 hours: a third one is refused, and one can retire at once', async () => {
    const webhookKeyRing = aKeyRing();
    const { secrets } = operationsOn(records.sql, { webhookKeyRing });
    const { application, secret: first } = await anApplicationWithSecret({ webhookKeyRing });
    const second = await secrets.rotate(application, 'yearly');
    for (const secret of [first, second]) expect(secret).toMatch(/^whsec_[0-9A-Za-z]{43}$/);

    const [newer, older] = await secrets.list(application);
    expect(newer?.retiresAt).toBeNull();
    const overlapMs = (older?.retiresAt?.getTime() ?? 0) - Date.now();
    expect(overlapMs / 3_600_000).toBeCloseTo(24, 1);
    await expect(secrets.rotate(application, null)).rejects.toThrow('already has two secrets');

    const box = createSecretBox(webhookKeyRing);
    const opened = async () =>
      (await createWebhookSecrets(records.sql).listSealed(application)).map((sealed) =>
        box.open(sealed, application),
      );
    expect(await opened()).toEqual([second, first]);
    await secrets.retire({ application, id: older?.id ?? 0 }, 'leaked');
    expect(await opened()).toEqual([second]);
    await expect(secrets.retire({ application, id: newer?.id ?? 0 }, null)).rejects.toThrow(
      'This is the only secret',
    );
    const third = await secrets.rotate(application, null);
    expect(await opened()).toEqual([third, second]);
    expect(JSON.stringify(await logOf(`application:${application}`))).not.toContain(
      second.slice(6, 20),
    );
  });

  it('keep the older one without a limit when the newer one retires', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    await secrets.rotate(application, null);
    const [newer, older] = await secrets.list(application);
    await secrets.retire({ application, id: newer?.id ?? 0 }, null);
    expect(await secrets.list(application)).toMatchObject([{ id: older?.id, retiresAt: null }]);
  });

  it('the secrets of another application do not change', async () => {
    const { secrets } = operationsOn(records.sql);
    const [one, other] = [await anApplication(), await anApplication()];
    const before = await secrets.list(one);
    expect(before).toMatchObject([{ retiresAt: null }]);
    await secrets.rotate(other, null);
    const [newer] = await secrets.list(other);
    await secrets.retire({ application: other, id: newer?.id ?? 0 }, null);
    expect(await secrets.list(one)).toEqual(before);
  });

  /** Has two admins act at once. @returns the refusals */
  const atOnce = async (application: string, acts: (() => Promise<unknown>)[]) => {
    const { blocked, release } = await holdLock(
      records.sql,
      (tx) => tx`select from applications where slug = ${application} for update`,
    );
    const acting = Promise.allSettled(acts.map((act) => act()));
    await blocked('each call', { count: 2 });
    await release();
    return (await acting).filter(({ status }) => status === 'rejected');
  };

  it('are two at most when two admins rotate at once', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    const rotate = () => secrets.rotate(application, null);
    expect(await atOnce(application, [rotate, rotate])).toHaveLength(1);
    expect(await secrets.list(application)).toHaveLength(2);
  });

  it('are one at least when two admins retire one each at once', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    await secrets.rotate(application, null);
    const ids = (await secrets.list(application)).map(({ id }) => id);
    const retiring = ids.map((id) => () => secrets.retire({ application, id }, null));
    const reason: unknown = expect.objectContaining({
      message: expect.stringContaining('This is the only secret'),
    });
    expect(await atOnce(application, retiring)).toEqual([{ status: 'rejected', reason }]);
    expect(await secrets.list(application)).toHaveLength(1);
  });

  it('are one at least when the second transaction began before the first', async () => {
    const application = await anApplication();
    const { secrets } = operationsOn(records.sql);
    await secrets.rotate(application, null);
    const [newer, older] = await secrets.list(application);
    const begin = (work: (tx: Queries) => unknown) =>
      records.sql.begin(async (tx) => {
        await tx`select now()`;
        await secrets.retire({ application, id: newer?.id ?? 0 }, 'leaked');
        return work(tx);
      });
    const sql = { begin } as Sql; // A change uses nothing else.
    const late = createSecretOperations({
      sql,
      change: createChange({ sql, actor: 'bob', via: 'cli' }),
      secretBox: () => expect.unreachable(),
      webhookBox: () => expect.unreachable(),
      notificationBox: () => expect.unreachable(),
    });
    const second = late.retire({ application, id: older?.id ?? 0 }, 'leaked');
    await expect(second).rejects.toThrow('This is the only secret');
    expect(await secrets.list(application)).toMatchObject([{ id: older?.id }]);
  });

  it('are encrypted with the first key by reseal, and do not need the old key after it', async () => {
    const [ring, newRing] = [aKeyRing('k1'), aKeyRing('k2')];
    const { application, secret } = await anApplicationWithSecret({ webhookKeyRing: ring });
    const both = { currentId: 'k2', keys: new Map([...newRing.keys, ...ring.keys]) };
    // This ring has no keys of the other tests.
    await records.sql`delete from webhook_secrets where application <> ${application}`;
    const others = aKeyRing('g2', 'g1');
    const { secrets } = operationsOn(records.sql, { webhookKeyRing: both, keyRing: others });
    expect(await secrets.list(application)).toMatchObject([{ keyId: 'k1' }]);
    const gateway = {
      slug: 'to-reseal',
      driver: 'zarinpal',
      kind: 'sandbox' as const,
      credentials: createSecretBox({ ...others, currentId: 'g1' }).seal(
        '{"merchant_id":"m"}',
        'gateway:to-reseal',
      ),
    };
    await createGateways(records.sql).insert(gateway);
    // More than one batch.
    const more = Array.from({ length: 100 }, () => ({
      application,
      ciphertext: createSecretBox(ring).seal('whsec_other', application),
    }));
    await records.sql`insert into webhook_secrets ${records.sql(more)}`;
    // A retired secret is never decrypted, and its key may be gone.
    await records.sql`
      insert into webhook_secrets (application, ciphertext, retires_at)
      values (${application}, 'v1.k0.gone', now())`;
    const listKeys = async () =>
      (await secrets.listKeys()).map(({ keyId, use, seals }) => [keyId, use, seals]);
    expect(await listKeys()).toEqual([
      ['k2', 'encrypts', 0],
      ['k1', 'decrypts', 101],
      ['g2', 'encrypts', 0],
      ['g1', 'decrypts', 1],
    ]);
    expect(await secrets.reseal('yearly')).toBe(102);
    expect(await listKeys()).toEqual([
      ['k2', 'encrypts', 101],
      ['k1', 'decrypts', 0],
      ['g2', 'encrypts', 1],
      ['g1', 'decrypts', 0],
    ]);
    const keyIds = (await secrets.list(application)).map(({ keyId }) => keyId);
    expect(new Set(keyIds)).toEqual(new Set(['k2']));

    const box = createSecretBox(newRing);
    const all = await createWebhookSecrets(records.sql).listSealed(application);
    const [sealed = ''] = all.toReversed();
    expect(box.open(sealed, application)).toBe(secret);
    expect(() => box.open(sealed, 'another')).toThrow('unable to authenticate');
    const account = await createGateways(records.sql).getAccount('to-reseal');
    expect(createSecretBox(others).open(account?.credentials ?? '', 'gateway:to-reseal')).toBe(
      '{"merchant_id":"m"}',
    );
  });

  it('are encrypted with the first key of SECRETS_KEY, also what only refunds need', async () => {
    const [ring, newRing] = [aKeyRing('r1'), aKeyRing('r2')];
    await records.sql`delete from webhook_secrets`;
    await records.sql`update gateways set credentials = null`;
    const refunds = { accessToken: 'token-0123456789', accountId: 'account-1' };
    const credentials = JSON.stringify({ merchant: 'shop', refunds });
    await operationsOn(records.sql, { keyRing: ring }).gateways.add(
      { slug: 'refunding', driver: 'zibal', kind: 'live', credentials },
      null,
    );
    const both = { currentId: 'r2', keys: new Map([...newRing.keys, ...ring.keys]) };
    const { secrets } = operationsOn(records.sql, { keyRing: both });
    expect(await secrets.reseal('yearly')).toBe(2);
    expect(await secrets.reseal('yearly')).toBe(0);
    const account = await createGateways(records.sql).getAccount('refunding');
    expect(openCredentials(createSecretBox(newRing), account!)).toEqual(JSON.parse(credentials));
    await records.sql`update gateways set refund_credentials = null`;
  });

  it('are encrypted with the first key of NOTIFICATIONS_KEY where they check notifications', async () => {
    const [ring, newRing, others] = [aKeyRing('n1'), aKeyRing('n2'), aKeyRing('k3')];
    await records.sql`delete from webhook_secrets`;
    await records.sql`update gateways set credentials = null`;
    const { gateways } = operationsOn(records.sql, { keyRing: others, notificationKeyRing: ring });
    const credentials = '{"secretKey":"sk_test_1234","webhookSecrets":["whsec_1234"]}';
    await gateways.add({ slug: 'notified', driver: 'stripe', kind: 'sandbox', credentials }, null);
    const both = { currentId: 'n2', keys: new Map([...newRing.keys, ...ring.keys]) };
    const { secrets } = operationsOn(records.sql, { keyRing: others, notificationKeyRing: both });
    expect(await secrets.reseal('yearly')).toBe(1);
    expect(await secrets.reseal('yearly')).toBe(0);
    const account = await createGateways(records.sql).getNotificationAccount('notified');
    const box = createSecretBox(newRing);
    expect(box.open(account?.notificationSecrets ?? '', 'notifications:notified')).toBe(
      '{"webhookSecrets":["whsec_1234"]}',
    );
    const [record] = await logOf('key:n2');
    expect(record).toMatchObject({ action: 'secret.reseal' });
  });
});
