import { afterAll, describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { connect } from '../../../../postgres/driver/connection.ts';
import { createProofs } from '../../../../postgres/gateways/proofs.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { until } from '../../../support/until.ts';

const records = await forFile(startRecords());
await records.addGateway('stripe');
/** As several processes. */
const connections = [1, 2, 3, 4].map((n) =>
  connect(records.url, { name: `tests-proofs-${n}`, max: 2 }),
);
afterAll(() => Promise.all(connections.map((sql) => sql.end({ timeout: 1 }))));
const proofsOf = connections.map((sql) => createProofs(sql));
const [one, two] = proofsOf as [(typeof proofsOf)[0], (typeof proofsOf)[0]];

describe('nextOrderNumber', () => {
  const takeMany = async () =>
    (
      await Promise.all(
        proofsOf.map(async (proofs) => {
          const numbers: number[] = [];
          for (let n = 0; n < 300; n += 1) numbers.push(await proofs.nextOrderNumber());
          return numbers;
        }),
      )
    ).flat();

  it('gives connections that ask at the same time numbers of their own, of 16 digits', async () => {
    const numbers = await takeMany();
    expect(new Set(numbers).size).toBe(1_200);
    for (const number of numbers) {
      expect(Number.isSafeInteger(number)).toBe(true);
      expect(String(number)).toMatch(/^\d{16}$/);
    }
  });

  it('gives larger numbers after a restore, which sets the sequence back', async () => {
    const [{ last } = { last: '' }] = await records.sql<{ last: string }[]>`
      select last_value as last from order_numbers`;
    const before = await takeMany();
    const largest = Math.max(...before);
    await until('a millisecond is over', () => Date.now() > largest / 1_000 + 1);
    await records.sql`select setval('order_numbers', ${last})`;
    const after = await takeMany();
    expect(Math.min(...after)).toBeGreaterThan(largest);
    expect(new Set([...before, ...after]).size).toBe(2_400);
  });

  it('gives other numbers to a rolled back transaction and to the next one', async () => {
    let lost = 0;
    await records.sql
      .begin(async (tx) => {
        lost = await createProofs(tx).nextOrderNumber();
        throw new Error('The transaction ends');
      })
      .catch(() => {});
    expect(await one.nextOrderNumber()).not.toBe(lost);
  });
});

it('lists what a payment has claimed at an account', async () => {
  const [first, second] = [newPaymentId(), newPaymentId()];
  await records.addGateway('sep');
  await one.claim('sandbox', first, 'RRN-10');
  await one.claim('sandbox', first, 'RRN-11');
  await one.claim('sep', first, 'RRN-12');
  await one.claim('sandbox', second, 'RRN-11');
  expect(await two.listClaimed('sandbox', first)).toEqual(['RRN-10', 'RRN-11']);
  expect(await two.listClaimed('sandbox', second)).toEqual([]);
});

describe('claim', () => {
  it('is true for the same payment again, and false for another one', async () => {
    const [first, second] = [newPaymentId(), newPaymentId()];
    expect(await one.claim('sandbox', first, 'RRN-1')).toBe(true);
    expect(await two.claim('sandbox', second, 'RRN-1')).toBe(false);
    expect(await two.claim('sandbox', first, 'RRN-1')).toBe(true);
    expect(await one.claim('sandbox', second, 'RRN-1')).toBe(false);
  });

  it('is true for a proof of another account, and for another proof', async () => {
    const [first, second] = [newPaymentId(), newPaymentId()];
    expect(await one.claim('sandbox', first, 'RRN-2')).toBe(true);
    expect(await one.claim('stripe', second, 'RRN-2')).toBe(true);
    expect(await one.claim('sandbox', second, 'rrn-2')).toBe(true);
  });

  it('is true for exactly one of several payments that claim at the same time', async () => {
    for (let n = 0; n < 50; n += 1) {
      const claims = proofsOf.map((proofs) => proofs.claim('sandbox', newPaymentId(), `race-${n}`));
      expect((await Promise.all(claims)).filter(Boolean)).toEqual([true]);
    }
  });

  it.each([
    ['commits', false],
    ['rolls back', true],
  ])('waits for another one, and after it %s is %s', async (end, expected) => {
    const proof = `waits-${end}`;
    const own = await records.sql.reserve();
    await own`begin`;
    expect(await createProofs(own).claim('sandbox', newPaymentId(), proof)).toBe(true);
    let isOver = false;
    const claim = two.claim('sandbox', newPaymentId(), proof).finally(() => (isOver = true));
    await until('the claim waits', async () => {
      const waiting = await records.sql`
        select from pg_stat_activity
        where application_name like 'tests-proofs-%' and wait_event_type = 'Lock'`;
      return waiting.length === 1;
    });
    expect(isOver).toBe(false);
    await own.unsafe(end === 'commits' ? 'commit' : 'rollback');
    own.release();
    expect(await claim).toBe(expected);
  });

  it('is refused for a proof without text, for a long one, and in place of the payment', async () => {
    const refused = (paymentId: string, proof: string, part: string) =>
      expect(one.claim('sandbox', paymentId, proof)).rejects.toMatchObject({
        constraint_name: `gateway_proofs__${part}`,
      });
    await refused(newPaymentId(), '', 'proof');
    await refused(newPaymentId(), 'x'.repeat(201), 'proof');
    await refused('RRN-3', newPaymentId(), 'payment_id');
  });
});
