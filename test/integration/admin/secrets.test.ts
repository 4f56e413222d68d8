import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChange } from '../../../admin/change.ts';
import { createSecretOperations } from '../../../admin/secrets.ts';
import type { Queries, Sql } from '../../../postgres/driver/sql.ts';
import { createGateways } from '../../../postgres/gateways.ts';
import { createSecretBox } from '../../../postgres/secret-box.ts';
import { createWebhookSecrets } from '../../../postgres/webhook-secrets.ts';
import { holdLock } from '../../support/hold-lock.ts';
import type { MetricsPortOptions } from '../../support/operations.ts';
import { aKeyRing, operationsOn } from '../../support/operations.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

let made = 0;

/** An application that no other test knows, and its first webhook secret. */
const withItsSecret = async (options: MetricsPortOptions = {}) => {
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
const anApplication = async () => (await withItsSecret()).application;

const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('webhook secrets', () => {
  it('FS-34: two overlap for 24 hours, a third is refused, one retires at once', async () => {
    const keyRing = aKeyRing();
    const { secrets } = operationsOn(records.sql, { keyRing });
    const { application, secret: first } = await withItsSecret({ keyRing });
    const second = await secrets.rotate(application, 'yearly');
    for (const secret of [first, second]) expect(secret).toMatch(/^whsec_[0-9A-Za-z]{43}$/);

    const [newer, older] = await secrets.list(application);
    expect(newer?.retiresAt).toBeNull();
    const overlapMs = (older?.retiresAt?.getTime() ?? 0) - Date.now();
    expect(overlapMs / 3_600_000).toBeCloseTo(24, 1);
    await expect(secrets.rotate(application, null)).rejects.toThrow('has two secrets already');

    const box = createSecretBox(keyRing);
    const opened = async () =>
      (await createWebhookSecrets(records.sql).listSealed(application)).map((sealed) =>
        box.open(sealed, application),
      );
    expect(await opened()).toEqual([second, first]);
    await secrets.retire({ application, id: older?.id ?? 0 }, 'leaked');
    expect(await opened()).toEqual([second]);
    await expect(secrets.retire({ application, id: newer?.id ?? 0 }, null)).rejects.toThrow(
      'the only secret',
    );
    const third = await secrets.rotate(application, null);
    expect(await opened()).toEqual([third, second]);
    expect(JSON.stringify(await logOf(`application:${application}`))).not.toContain(
      second.slice(6, 20),
    );
  });

  it('the newer one can be taken back too: the older one stays for good then', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    await secrets.rotate(application, null);
    const [newer, older] = await secrets.list(application);
    await secrets.retire({ application, id: newer?.id ?? 0 }, null);
    expect(await secrets.list(application)).toMatchObject([{ id: older?.id, retiresAt: null }]);
  });

  it('of one application stay as they are, whatever another one is given', async () => {
    const { secrets } = operationsOn(records.sql);
    const [one, other] = [await anApplication(), await anApplication()];
    const before = await secrets.list(one);
    expect(before).toMatchObject([{ retiresAt: null }]);
    await secrets.rotate(other, null);
    const [newer] = await secrets.list(other);
    await secrets.retire({ application: other, id: newer?.id ?? 0 }, null);
    expect(await secrets.list(one)).toEqual(before);
  });

  it('two admins who rotate at once do not make three', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    const { blocked, release } = await holdLock(
      records.sql,
      (tx) => tx`select from applications where slug = ${application} for update`,
    );
    const rotating = Promise.allSettled([
      secrets.rotate(application, null),
      secrets.rotate(application, null),
    ]);
    await blocked('each of them', { count: 2 });
    await release();
    const both = await rotating;
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await secrets.list(application)).toHaveLength(2);
  });

  it('two admins who retire one each at once: the second is told that it is the only one', async () => {
    const { secrets } = operationsOn(records.sql);
    const application = await anApplication();
    await secrets.rotate(application, null);
    const { blocked, release } = await holdLock(
      records.sql,
      (tx) => tx`select from applications where slug = ${application} for update`,
    );
    const ids = (await secrets.list(application)).map(({ id }) => id);
    const retiring = Promise.allSettled(ids.map((id) => secrets.retire({ application, id }, null)));
    await blocked('each of them', { count: 2 });
    await release();
    const refused = (await retiring).filter(({ status }) => status === 'rejected');
    const reason: unknown = expect.objectContaining({
      message: expect.stringContaining('the only secret'),
    });
    expect(refused).toEqual([{ status: 'rejected', reason }]);
    expect(await secrets.list(application)).toHaveLength(1);
  });

  it('also where the second one began before the first', async () => {
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
    const sql = { begin } as Sql; // A change needs no more of it.
    const late = createSecretOperations({
      ...{ sql, change: createChange({ sql, actor: 'bob' }) },
      secretBox: () => expect.unreachable(),
    });
    const second = late.retire({ application, id: older?.id ?? 0 }, 'leaked');
    await expect(second).rejects.toThrow('the only secret');
    expect(await secrets.list(application)).toMatchObject([{ id: older?.id }]);
  });

  it('are sealed anew with the first key of the ring, after which the old key can go', async () => {
    const [ring, newRing] = [aKeyRing('k1'), aKeyRing('k2')];
    const { application, secret } = await withItsSecret({ keyRing: ring });
    const both = { currentId: 'k2', keys: new Map([...newRing.keys, ...ring.keys]) };
    // Other tests' keys are not in this ring.
    await records.sql`delete from webhook_secrets where application <> ${application}`;
    const { secrets } = operationsOn(records.sql, { keyRing: both });
    expect(await secrets.list(application)).toMatchObject([{ keyId: 'k1' }]);
    const gateway = {
      ...{ slug: 'to-reseal', driver: 'zarinpal', kind: 'sandbox' as const },
      credentials: createSecretBox(ring).seal('{"merchant_id":"m"}', 'gateway:to-reseal'),
    };
    await createGateways(records.sql).insert(gateway);
    // More than are sealed in one transaction.
    const others = Array.from({ length: 100 }, () => ({
      application,
      ciphertext: createSecretBox(ring).seal('whsec_other', application),
    }));
    await records.sql`insert into webhook_secrets ${records.sql(others)}`;
    // One that has retired is opened by nobody any more, and its key may be gone.
    await records.sql`
      insert into webhook_secrets (application, ciphertext, retires_at)
      values (${application}, 'v1.k0.gone', now())`;
    expect(await secrets.reseal('yearly')).toBe(102);
    const keyIds = (await secrets.list(application)).map(({ keyId }) => keyId);
    expect(new Set(keyIds)).toEqual(new Set(['k2']));

    const box = createSecretBox(newRing);
    const all = await createWebhookSecrets(records.sql).listSealed(application);
    const [sealed = ''] = all.toReversed();
    expect(box.open(sealed, application)).toBe(secret);
    expect(() => box.open(sealed, 'another')).toThrow('unable to authenticate');
    const account = await createGateways(records.sql).getAccount('to-reseal');
    expect(box.open(account?.credentials ?? '', 'gateway:to-reseal')).toBe('{"merchant_id":"m"}');
  });
});
