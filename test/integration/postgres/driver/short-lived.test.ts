import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIdempotencyKeys } from '../../../../postgres/idempotency-keys.ts';
import { createWorkflowOutbox } from '../../../../postgres/workflow-outbox.ts';
import { hold } from '../../../support/hold.ts';
import type { Records } from '../../../support/records.ts';
import { aPayment, startRecords } from '../../../support/records.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

const owner = { application: 'shop', test: true };
const route = 'POST /api/v1/payments';
const aRecord = (key: string, expiresInMs: number) => ({
  route,
  key,
  fingerprint: Buffer.alloc(32, 7),
  status: 201,
  location: '/there',
  body: `the answer to ${key}`,
  expiresAt: new Date(Date.now() + expiresInMs),
});
const insert = (key: string, expiresInMs: number) =>
  records.payments.insert(aPayment(), aRecord(key, expiresInMs));

describe('an idempotency record', () => {
  it('is known until it expires, to its owner alone', async () => {
    const keys = createIdempotencyKeys(records.sql);
    await insert('fresh', 60_000);
    await insert('stale', 0);
    const { fingerprint, location, body } = aRecord('fresh', 0);
    const kept = await keys.get(owner, route, 'fresh');
    expect(kept).toEqual({ fingerprint, location, body });
    expect(await keys.get(owner, route, 'stale')).toBeUndefined();
    expect(await keys.get({ ...owner, test: false }, route, 'fresh')).toBeUndefined();
    expect(await keys.get({ ...owner, application: 'quiet' }, route, 'fresh')).toBeUndefined();
    expect(await keys.get(owner, 'GET /elsewhere', 'fresh')).toBeUndefined();
  });

  it('is dropped once it has expired, in bounded batches', async () => {
    const keys = createIdempotencyKeys(records.sql);
    for (const key of ['a', 'b', 'c']) await insert(key, -1);
    await insert('fresh', 60_000);
    expect(await keys.deleteExpired(2)).toBe(2);
    expect(await keys.deleteExpired(2)).toBe(1);
    expect(await keys.deleteExpired(2)).toBe(0);
    expect(await records.sql`select key from idempotency_keys`).toEqual([{ key: 'fresh' }]);
  });

  it('that is used anew in the moment of being dropped is kept', async () => {
    await insert('anew', -1);
    const creating = await hold(
      records.sql,
      (tx) => tx`update idempotency_keys set expires_at = now() + interval '1 day'`,
    );
    const dropped = createIdempotencyKeys(records.sql).deleteExpired(10);
    await creating.blocked('dropping');
    await creating.commit();
    expect(await dropped).toBe(0);
    expect(await records.sql`select key from idempotency_keys`).toEqual([{ key: 'anew' }]);
  });
});

describe('an unstarted payment', () => {
  it('is given out oldest first, in bounded batches, when its API process has had its time', async () => {
    const outbox = createWorkflowOutbox(records.sql);
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
    const [young, old, older] = [
      await records.created({ createdAt: ago(1) }),
      await records.created({ createdAt: ago(7_200) }),
      await records.created({ createdAt: ago(10_800) }),
    ];
    const list = (limit: number, age = '1 hour') => outbox.list({ limit, age });
    expect(await list(9)).toMatchObject([{ id: older.id }, { id: old.id }]);
    expect(await list(1)).toEqual([
      {
        id: older.id,
        application: 'shop',
        orderId: 'order-1',
        amount: 1250,
        currency: 'EUR',
        gateway: 'sandbox',
        expiresAt: older.expiresAt,
        traceId: null,
      },
    ]);
    expect(await list(9, '0 seconds')).toHaveLength(3);
    await outbox.delete([older.id, 'PAY_unknown']);
    await outbox.delete([]);
    expect(await list(9, '0 seconds')).toMatchObject([{ id: old.id }, { id: young.id }]);
  });

  it('is counted no further than is asked for', async () => {
    const outbox = createWorkflowOutbox(records.sql);
    expect(await outbox.count(10)).toBe(0);
    for (let count = 0; count < 4; count += 1) await records.created();
    expect(await outbox.count(10)).toBe(4);
    expect(await outbox.count(3)).toBe(3);
  });
});
