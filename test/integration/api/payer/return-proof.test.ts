import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { showAfterMs } from '../../../../api/payer/waiting.ts';
import { type Deps, returnByPostHandler, returnHandler } from '../../../../api/payer/return.ts';
import type { AnyRequest } from '../../../../api/http/route.ts';
import type { Payment } from '../../../../contract/payment.ts';
import { aPayerRequest } from '../../../support/data/payer-requests.ts';
import { startRecords } from '../../../support/data/records.ts';
import { lendAbilities } from '../../../support/gateways/lend-abilities.ts';
import { readableLogger } from '../../../support/service/scripted-gateway.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

/** The fields that the lent driver reads. */
const fieldsOf = ({ id }: Pick<Payment, 'id'>, proof: string, reference = `REF_${id}`) =>
  String(new URLSearchParams({ order: id, reference, proof }));
const lendProofs = () =>
  lendAbilities('sandbox', {
    readProof: (fields, { id, reference }) =>
      fields.get('order') === id && fields.get('reference') === reference
        ? (fields.get('proof') ?? undefined)
        : undefined,
    parseReturn: (fields) => (fields.get('proof') === 'no' ? 'cancelled' : 'paid'),
  });

const proofOf = async ({ id }: Pick<Payment, 'id'>) =>
  (await records.paymentOutcomes.get(id))?.returnProof;

interface Coming extends Partial<Pick<AnyRequest, 'isHead'> & Pick<Deps, 'payments'>> {
  posted?: string;
  query?: string;
  accept?: string;
}

/** A payer comes back. @returns what the service did, and which proof was stored when it asked the gateway */
const comesBack = async (
  payment: Pick<Payment, 'id'>,
  { posted, query = '', accept, payments = records.payments, ...more }: Coming,
) => {
  const { logger, warnings } = readableLogger();
  const asked: unknown[] = [];
  const createHandler = posted === undefined ? returnHandler : returnByPostHandler;
  const handle = createHandler({
    payments,
    async verify({ id }, { cancelled }) {
      asked.push([await proofOf({ id }), cancelled]);
      if (accept) await new Promise(() => {});
      return { kind: 'waiting' };
    },
    searchLate: async ({ id }) => void asked.push([await proofOf({ id }), 'late']),
    budget: { take: () => 0 },
    publicBaseUrl: 'https://pay.example',
    now: () => new Date(),
    logger,
  });
  const request = { ...aPayerRequest(payment.id, query, accept, posted), ...more };
  return { answer: await handle(request), asked, warnings };
};

it('stores the proof of a posted return before it asks the gateway', async () => {
  lendProofs();
  const payment = await records.sent();
  const { asked, answer } = await comesBack(payment, { posted: fieldsOf(payment, 'RRN-1') });
  expect(asked).toEqual([['RRN-1', false]]);
  expect(answer.headers?.['location']).toContain('status=processing');
  expect(answer.headers?.['location']).not.toContain('RRN');
});

it('stores that of a query, too, and the fields of a body count instead of it', async () => {
  lendProofs();
  const payment = await records.sent();
  await comesBack(payment, { query: fieldsOf(payment, 'of-the-query') });
  expect(await proofOf(payment)).toBe('of-the-query');
  const { asked } = await comesBack(payment, {
    query: fieldsOf(payment, 'no'),
    posted: fieldsOf(payment, 'of-the-body'),
  });
  expect(asked).toEqual([['of-the-body', false]]);
  const without = await comesBack(payment, { query: fieldsOf(payment, 'no'), posted: '' });
  expect(without.asked).toEqual([['no', true]]);
});

it('stores the last one', async () => {
  lendProofs();
  const payment = await records.sent();
  for (const proof of ['1', '2', '1'])
    await comesBack(payment, { posted: fieldsOf(payment, proof) });
  expect(await proofOf(payment)).toBe('1');
});

it('stores it before the redirect to the page that waits, whose address has no field', async () => {
  lendProofs();
  const payment = await records.sent();
  const payments: Deps['payments'] = {
    ...records.payments,
    async recordReturnProof(...proof) {
      await sleep(showAfterMs + 200);
      await records.payments.recordReturnProof(...proof);
    },
  };
  const { answer } = await comesBack(payment, {
    ...{ payments, posted: fieldsOf(payment, 'RRN-2') },
    ...{ query: 'lang=fa', accept: 'text/html' },
  });
  expect(await proofOf(payment)).toBe('RRN-2');
  expect(answer.status).toBe(303);
  expect(answer.headers?.['location']).toMatch(
    new RegExp(
      `^https://pay.example/api/v1/payments/${payment.id}/return\\?lang=fa&waits_until=\\d+$`,
    ),
  );
});

it.each(['failed', 'cancelled', 'expired'] as const)(
  'stores it after the end of a payment that is %s, for money that comes late',
  async (status) => {
    lendProofs();
    const payment = await records.ended(status);
    const { asked } = await comesBack(payment, { posted: fieldsOf(payment, 'late') });
    expect(asked).toEqual([['late', 'late']]);
  },
);

it('stores nothing for a paid payment, nor for a program that looks whether the link works', async () => {
  lendProofs();
  const [paid, open] = [await records.ended('paid'), await records.sent()];
  await comesBack(paid, { posted: fieldsOf(paid, 'more') });
  await comesBack(open, { query: fieldsOf(open, 'seen'), isHead: true });
  expect([await proofOf(paid), await proofOf(open)]).toEqual([null, null]);
});

it.each<[string, (payment: Payment, other: Payment) => string]>([
  ['names another payment', (_, other) => fieldsOf(other, 'RRN')],
  [
    'names the reference of another payment',
    (one, other) => fieldsOf(one, 'RRN', `REF_${other.id}`),
  ],
  ['names no reference', (one) => `order=${one.id}&proof=RRN`],
  ['has no fields', () => ''],
])('changes no payment when the return %s', async (_, posted) => {
  lendProofs();
  const [payment, other] = [await records.sent(), await records.sent()];
  const { asked } = await comesBack(payment, { posted: posted(payment, other) });
  expect(asked).toEqual([[null, false]]);
  expect(await proofOf(other)).toBeNull();
});

it.each([
  ['of 201 characters', 'x'.repeat(201)],
  ['that is empty', ''],
  ['with a line break', 'RRN\r\nHost: x'],
  ['with a tabulator', 'RRN\t1'],
  ['with a zero byte', 'RRN\0'],
  ['with letters beyond ASCII', 'RRN۱'],
])('drops a proof %s, which no log line quotes', async (_, proof) => {
  lendProofs();
  const payment = await records.sent();
  await comesBack(payment, { posted: fieldsOf(payment, 'good') });
  const { asked, warnings } = await comesBack(payment, { posted: fieldsOf(payment, proof) });
  expect(asked).toEqual([['good', false]]);
  expect(warnings()).toMatchObject([{ payment_id: payment.id }]);
  if (proof) expect(JSON.stringify(warnings())).not.toContain('RRN');
});

it('stores a proof of 200 printable characters', async () => {
  lendProofs();
  const payment = await records.sent();
  const proof = ` ~'"\\;--${'x'.repeat(192)}`;
  await comesBack(payment, { posted: fieldsOf(payment, proof) });
  expect(proof).toHaveLength(200);
  expect(await proofOf(payment)).toBe(proof);
});

it('stores none for a driver that reads none', async () => {
  const payment = await records.sent();
  const { asked } = await comesBack(payment, { posted: fieldsOf(payment, 'RRN') });
  expect(asked).toEqual([[null, false]]);
});
