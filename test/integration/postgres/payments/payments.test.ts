import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Payment } from '../../../../contract/payment.ts';
import { type TerminalStatus, terminalStatuses } from '../../../../contract/status.ts';
import { createIdempotencyKeys } from '../../../../postgres/payments/idempotency-keys.ts';
import { anIdempotencyRecord, aPayment } from '../../../support/data/payments.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const owner = { application: 'shop', test: true };
const exists = async ({ id }: Payment): Promise<boolean> =>
  (await records.payments.getForPayer(id)) !== undefined;

describe('payments.insert', () => {
  it('writes the payment, the idempotency record and the outbox entry in one statement', async () => {
    const payment = aPayment({ metadata: '{"b": 1.0, "a": "é"}', description: 'Tea' });
    expect(await records.payments.insert(payment, anIdempotencyRecord('one'))).toMatchObject({
      isInserted: true,
    });
    // Equal xmin means one transaction, equal cmin one command in it.
    const marks = await records.sql`
      select xmin::text, cmin::text from payments where id = ${payment.id}
      union all select xmin::text, cmin::text from idempotency_keys where key = 'one'
      union all select xmin::text, cmin::text from workflow_outbox where payment_id = ${payment.id}`;
    expect(marks).toHaveLength(3);
    expect(new Set(marks.map((mark) => JSON.stringify(mark))).size).toBe(1);
    expect(await records.payments.get(payment.id, owner)).toEqual({
      ...payment,
      driver: 'sandbox',
      hasRefundCredentials: false,
      opened: false,
      payerSent: false,
      verifyWindow: expect.any(Number),
    });
  });

  it('dates the outbox entry by the clock of Postgres, so that no other clock makes it wait', async () => {
    const { id } = await records.created({ createdAt: new Date(Date.now() + 86_400_000) });
    const isPast = await records.sql`
      select from workflow_outbox where payment_id = ${id} and created_at <= now()`;
    expect(isPast).toHaveLength(1);
  });

  it('writes nothing when Postgres rejects the payment', async () => {
    const refused = aPayment({ gateway: 'nowhere' });
    await expect(records.payments.insert(refused, anIdempotencyRecord('refused'))).rejects.toThrow(
      'foreign key',
    );
    expect(await records.sql`select from idempotency_keys where key = 'refused'`).toEqual([]);
  });

  it('reuses an expired key once', async () => {
    const old = aPayment();
    await records.payments.insert(old, anIdempotencyRecord('expired', '0'));
    const candidates = Array.from({ length: 20 }, () => aPayment());
    const results = await Promise.all(
      candidates.map((payment) => records.payments.insert(payment, anIdempotencyRecord('expired'))),
    );
    const written = await Promise.all(candidates.map(exists));
    expect(written).toEqual(results.map(({ isInserted }) => isInserted));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await exists(old)).toBe(true);
    const keys = createIdempotencyKeys(records.sql);
    expect(await keys.get(owner, 'GET /elsewhere', 'expired')).toBeUndefined();
  });
});

describe('the window of a verification', () => {
  it('follows the clock of Postgres, and not that of the process', async () => {
    const { id } = await records.created();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const windowNow = async () => {
      const [row] = await records.sql<{ now: number }[]>`
        select floor(extract(epoch from clock_timestamp()) / 3)::bigint as now`;
      return row!.now;
    };
    const before = await windowNow();
    const read = await Promise.all([
      records.payments.get(id, owner),
      records.payments.getForPayer(id),
    ]);
    const after = await windowNow();
    for (const payment of read) {
      expect(payment!.verifyWindow).toBeGreaterThanOrEqual(before);
      expect(payment!.verifyWindow).toBeLessThanOrEqual(after);
    }
  });
});

describe('payments.sendToGateway', () => {
  const sentAt = async ({ id }: Payment): Promise<unknown> => {
    const [row] = await records.sql`select checkout_at from payments where id = ${id}`;
    return row?.['checkout_at'];
  };

  const redirectOf = async ({ id }: Payment, now: Date) => {
    const [payment] = await records.payments.sendToGateway([id], now);
    expect(payment).toMatchObject({ id, driver: 'sandbox' });
    return payment?.redirect;
  };

  it('returns the redirect and records the time', async () => {
    const payment = await records.opened();
    const now = new Date();
    expect(await redirectOf(payment, now)).toEqual({
      method: 'GET',
      url: `https://gateway.example/${payment.id}`,
    });
    expect(await sentAt(payment)).toEqual(now);
    expect(await records.payments.get(payment.id, owner)).toMatchObject({ payerSent: true });
  });

  it('sends no payer before the payment is opened, or from the deadline on', async () => {
    const unopened = await records.created();
    expect(await redirectOf(unopened, new Date())).toBeNull();
    const late = await records.opened();
    expect(await redirectOf(late, late.expiresAt)).toBeNull();
    expect([await sentAt(unopened), await sentAt(late)]).toEqual([null, null]);
  });

  it('sends no payer when the payment is processing or has ended', async () => {
    const processing = await records.opened();
    await records.inquired(processing.id, { becomesProcessing: true });
    expect(await redirectOf(processing, new Date())).toBeNull();
    expect(await sentAt(processing)).toBeNull();
    for (const status of terminalStatuses) {
      const ended = await records.ended(status);
      const before = await records.snapshot(ended.id);
      expect(await redirectOf(ended, new Date())).toBeNull();
      expect(await records.snapshot(ended.id)).toEqual(before);
    }
  });
});

describe('payments.claimLateSearch', () => {
  const minutesUntil = async (claim: Promise<Date | undefined>) => {
    const at = await claim;
    return at && Math.abs(Math.round((at.getTime() - Date.now()) / 60_000));
  };
  const claim = (id: string) => minutesUntil(records.payments.claimLateSearch(id));
  const ended = async (status: TerminalStatus, hoursAgo = 0) => {
    const { id } = await records.ended(status);
    await records.sql`
      update payments set updated_at = now() - make_interval(hours => ${hoursAgo}) where id = ${id}`;
    return id;
  };

  it('claims a search at once, then after 1, 2, 4 … at most 60 minutes, and one for all until then', async () => {
    const id = await ended('expired');
    const pauses = [];
    for (let count = 0; count < 9; count += 1) {
      pauses.push(await claim(id));
      if (count > 0) expect(await claim(id)).toBeUndefined();
      await records.sql`update payments set late_search_at = now() where id = ${id}`;
    }
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('claims at most one search at once and one that waits for many payers', async () => {
    const id = await ended('failed');
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(id)));
    const made = claims.filter((minutes) => minutes !== undefined).toSorted((a, b) => a - b);
    expect(made[0]).toBe(0);
    expect(made.slice(1)).toEqual(made.length === 2 ? [1] : []);
  });

  it('claims nothing for a payment that is open or paid, or ended more than 48 hours ago', async () => {
    expect(await claim((await records.sent()).id)).toBeUndefined();
    expect(await claim(await ended('paid'))).toBeUndefined();
    expect(await claim(await ended('cancelled', 49))).toBeUndefined();
    expect(await claim(await ended('cancelled', 47))).toBe(0);
  });

  it('claims again at once after a release', async () => {
    const id = await ended('expired');
    for (let count = 0; count < 3; count += 1) {
      expect(await claim(id)).toBe(0);
      await records.payments.unclaimLateSearch(id);
    }
  });
});

it('numbers from Postgres are safe integers, or an error that leaves the connection usable', async () => {
  const { sql } = records;
  expect(await sql`select 9007199254740991 as n`).toEqual([{ n: Number.MAX_SAFE_INTEGER }]);
  await expect(sql`select 9007199254740993 as n`).rejects.toThrow('not a safe integer');
  await expect(sql`select -9007199254740992 as n`).rejects.toThrow(RangeError);
  expect(await sql`select count(*) as n from (values (1)) as v`).toEqual([{ n: 1 }]);
});
