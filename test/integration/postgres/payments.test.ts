import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import { createIdempotencyKeys } from '../../../postgres/idempotency-keys.ts';
import type { IdempotencyRecord } from '../../../postgres/payments.ts';
import type { Records } from '../../support/records.ts';
import { aPayment, minuteMs, startRecords } from '../../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const owner = { application: 'shop', test: true };
const route = 'POST /api/v1/payments';
const aRecord = (key: string, expiresInMs = 24 * 60 * minuteMs): IdempotencyRecord => ({
  route,
  key,
  fingerprint: Buffer.alloc(32, key),
  status: 201,
  location: '/there',
  body: `the answer to ${key}`,
  expiresAt: new Date(Date.now() + expiresInMs),
});

const isWritten = async ({ id }: Payment): Promise<boolean> =>
  (await records.payments.getForPayer(id)) !== undefined;

/** Inserts many at once with one key. @returns the payments that were written */
const race = async (key: string): Promise<Payment[]> => {
  const twins = Array.from({ length: 20 }, () => aPayment());
  const answers = await Promise.all(
    twins.map((twin) => records.payments.insert(twin, aRecord(key))),
  );
  const written = await Promise.all(twins.map(isWritten));
  expect(written).toEqual(answers);
  return twins.filter((_, index) => written[index]);
};

describe('payments.insert', () => {
  it('writes payment, idempotency record and unstarted row in one statement', async () => {
    const payment = aPayment({ metadata: '{"b": 1.0, "a": "é"}', description: 'Tea' });
    expect(await records.payments.insert(payment, aRecord('one'))).toBe(true);
    // One transaction and, within it, one command.
    const marks = await records.sql`
      select xmin::text, cmin::text from payments where id = ${payment.id}
      union all select xmin::text, cmin::text from idempotency_keys where key = 'one'
      union all select xmin::text, cmin::text from workflow_outbox where payment_id = ${payment.id}`;
    expect(marks).toHaveLength(3);
    expect(new Set(marks.map((mark) => JSON.stringify(mark))).size).toBe(1);
    expect(await records.payments.get(payment.id, owner)).toEqual({ ...payment, sent: false });
  });

  it('FS-01: writes one payment for 20 parallel creates with one key', async () => {
    expect(await race('twins')).toHaveLength(1);
  });

  it('writes nothing where the key is taken, and the first answer stays', async () => {
    await records.payments.insert(aPayment(), aRecord('taken'));
    const second = aPayment();
    const other = { ...aRecord('taken'), body: 'another answer' };
    expect(await records.payments.insert(second, other)).toBe(false);
    expect(await isWritten(second)).toBe(false);
    expect(await records.sql`select from workflow_outbox where payment_id = ${second.id}`).toEqual(
      [],
    );
    const kept = await createIdempotencyKeys(records.sql).get(owner, route, 'taken');
    expect(kept?.body).toBe('the answer to taken');
  });

  it('writes neither record nor unstarted row when the payment itself is refused', async () => {
    const refused = aPayment({ gateway: 'nowhere' });
    await expect(records.payments.insert(refused, aRecord('refused'))).rejects.toThrow(
      'foreign key',
    );
    expect(await records.sql`select from idempotency_keys where key = 'refused'`).toEqual([]);
  });

  it('keeps keys apart by application, mode and route', async () => {
    const insert = (fields: Partial<Payment>, to = route) =>
      records.payments.insert(aPayment(fields), { ...aRecord('scoped'), route: to });
    expect(await insert({})).toBe(true);
    expect(await insert({ application: 'quiet' })).toBe(true);
    expect(await insert({ test: false })).toBe(true);
    expect(await insert({}, 'POST /elsewhere')).toBe(true);
    expect(await insert({})).toBe(false);
  });

  it('uses an expired key again, and also then once', async () => {
    const old = aPayment();
    await records.payments.insert(old, aRecord('expired', -1));
    const [again, ...more] = await race('expired');
    expect(more).toEqual([]);
    expect([await isWritten(old), await isWritten(again!)]).toEqual([true, true]); // One was written.
  });
});

describe('payments.get', () => {
  it('finds nothing of another application or mode', async () => {
    const { id } = await records.created();
    expect(await records.payments.get(id, owner)).toMatchObject({ id });
    expect(await records.payments.get(id, { ...owner, application: 'quiet' })).toBeUndefined();
    expect(await records.payments.get(id, { ...owner, test: false })).toBeUndefined();
  });
});

describe('payments.sendToGateway', () => {
  const sentAt = async ({ id }: Payment): Promise<unknown> => {
    const [row] = await records.sql`select checkout_at from payments where id = ${id}`;
    return row?.['checkout_at'];
  };

  it('says where the payer goes, and notes when', async () => {
    const payment = await records.opened();
    const now = new Date();
    expect(await records.payments.sendToGateway(payment.id, now)).toEqual({
      method: 'GET',
      url: `https://gateway.example/${payment.id}`,
    });
    expect(await sentAt(payment)).toEqual(now);
    expect(await records.payments.get(payment.id, owner)).toMatchObject({ sent: true });
  });

  it('sends nobody before the payment is opened, or from the deadline on', async () => {
    const unopened = await records.created();
    expect(await records.payments.sendToGateway(unopened.id, new Date())).toBeUndefined();
    const late = await records.opened();
    expect(await records.payments.sendToGateway(late.id, late.expiresAt)).toBeUndefined();
    expect([await sentAt(unopened), await sentAt(late)]).toEqual([null, null]);
  });

  it('sends nobody to a payment that is processing or has ended', async () => {
    const processing = await records.opened();
    await records.asked(processing.id, { processing: true });
    expect(await records.payments.sendToGateway(processing.id, new Date())).toBeUndefined();
    expect(await sentAt(processing)).toBeNull();
    for (const status of terminalStatuses) {
      const ended = await records.ended(status);
      const before = await records.everythingOf(ended.id);
      expect(await records.payments.sendToGateway(ended.id, new Date())).toBeUndefined();
      expect(await records.everythingOf(ended.id)).toEqual(before);
    }
  });
});

describe('numbers from Postgres', () => {
  it('are safe integers or an error, and the connection lives on', async () => {
    const { sql } = records;
    expect(await sql`select 9007199254740991 as n`).toEqual([{ n: Number.MAX_SAFE_INTEGER }]);
    await expect(sql`select 9007199254740993 as n`).rejects.toThrow('not a safe integer');
    await expect(sql`select -9007199254740992 as n`).rejects.toThrow(RangeError);
    expect(await sql`select count(*) as n from (values (1)) as v`).toEqual([{ n: 1 }]);
  });
});
