import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KnownDispute } from '../../../../contract/dispute.ts';
import { disputeId, newPaymentId } from '../../../../contract/ids.ts';
import { disputeCursors } from '../../../../contract/list-disputes.ts';
import { refundCursors } from '../../../../contract/list-refunds.ts';
import { aDispute, recordDisputes } from '../../../support/data/disputes.ts';
import { writePayments, type WrittenPayment } from '../../../support/data/payments.ts';
import { forFile } from '../../../support/for-file.ts';
import {
  listed,
  paginationOf,
  problemsOf,
  readPages,
  refusalOf,
} from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());

const idsOf = (answer: Answer) => listed(answer, 'dispute_id');

const aCaller = async () => {
  const { application, issue, journey } = await service.anApplication();
  const get = (path: string) => journey.request('GET', `/api/v1/${path}`);
  return {
    application,
    issue,
    request: get,
    list: (query: Record<string, string> = {}) =>
      get(`disputes?${new URLSearchParams(query).toString()}`),
    /** Writes a paid payment that no workflow knows. @returns its id */
    async pay(fields: WrittenPayment = {}) {
      const id = newPaymentId();
      const paid = { status: 'paid', trackingCode: 'T-1' } as const;
      await writePayments(service.sql, [{ id, application, ...paid, ...fields }]);
      return id;
    },
    /** @returns the id of the dispute */
    async dispute(paymentId: string, changes: Partial<KnownDispute> = {}) {
      const told = aDispute({ gatewayReference: `dp_${randomUUID()}`, ...changes });
      await recordDisputes(service.sql, paymentId, [told]);
      return disputeId('sandbox', told.gatewayReference);
    },
  };
};
const march = (time: string) => new Date(`2026-03-${time}Z`);

describe('disputes of an application', () => {
  it('are the same bytes in each list and alone, and none without a dispute', async () => {
    const { application, request, list, pay, dispute } = await aCaller();
    const paymentId = await pay({ orderId: 'order-7' });
    const empty = '{"data":[],"pagination":{"per_page":20,"has_more":false,"next_cursor":null}}';
    expect((await list()).text).toBe(empty);
    expect((await list({ payment_id: paymentId })).text).toBe(empty);
    expect((await request(`payments/${paymentId}/disputes`)).text).toBe(empty);

    const id = await dispute(paymentId);
    const one = await request(`disputes/${id}`);
    expect(one.text).toBe(
      `{"dispute_id":"${id}","payment_id":"${paymentId}","application":"${application}","order_id":"order-7",` +
        '"gateway":"sandbox","test":true,"stage":"chargeback","status":"needs_response","amount":1000,' +
        '"amount_held":1000,"currency":"EUR","reason":"fraudulent","network_reason":"10.4",' +
        '"respond_by":"2026-12-24T23:59:59.000+00:00","opened_at":"2026-11-21T08:00:00.000+00:00",' +
        `"closed_at":null,"updated_at":"${String(one.json['updated_at'])}"}`,
    );
    const page = `{"data":[${one.text}],"pagination":{"per_page":20,"has_more":false,"next_cursor":null}}`;
    expect((await list()).text).toBe(page);
    expect((await request(`payments/${paymentId}/disputes`)).text).toBe(page);
  });

  it.each([
    ['inquiry', 'needs_response', false],
    ['inquiry', 'under_review', false],
    ['inquiry', 'closed', true],
    ['chargeback', 'needs_response', false],
    ['chargeback', 'under_review', false],
    ['chargeback', 'won', true],
    ['chargeback', 'lost', true],
    ['chargeback', 'closed', true],
  ] as const)('hold what the payment says: %s, %s', async (stage, status, isClosed) => {
    const { request, pay, dispute } = await aCaller();
    const paymentId = await pay();
    const id = await dispute(paymentId, { stage, status, respondBy: null });
    const { json } = await request(`disputes/${id}`);
    const payment = await request(`payments/${paymentId}`);
    expect(json).toMatchObject({ stage, status, respond_by: null });
    expect(json['closed_at'] !== null).toBe(isClosed);
    expect(json['amount_held']).toBe(payment.json['amount_disputed']);
    expect(payment.json['status']).toBe('paid');
  });

  it('are hidden from other applications and the other mode', async () => {
    const mine = await aCaller();
    const other = await aCaller();
    const paymentId = await mine.pay();
    const id = await mine.dispute(paymentId);
    const livePayment = await mine.pay({ test: false });
    const live = await mine.dispute(livePayment);
    const withLive = createJourney(service, await mine.issue('live'));
    const request = (path: string) => withLive.request('GET', `/api/v1/${path}`);
    const cases = [
      { caller: mine.request, seen: [paymentId, id], hidden: [livePayment, live] },
      { caller: request, seen: [livePayment, live], hidden: [paymentId, id] },
    ] as const;
    for (const { caller, seen, hidden } of cases) {
      expect(idsOf(await caller('disputes'))).toEqual([seen[1]]);
      expect(idsOf(await caller(`disputes?payment_id=${seen[0]}`))).toEqual([seen[1]]);
      expect(idsOf(await caller(`payments/${seen[0]}/disputes`))).toEqual([seen[1]]);
      expect((await caller(`disputes/${seen[1]}`)).status).toBe(200);
      for (const each of [caller, other.request])
        for (const [path, code] of [
          [`payments/${hidden[0]}/disputes`, 'PAYMENT_NOT_FOUND'],
          [`disputes?payment_id=${hidden[0]}`, 'PAYMENT_NOT_FOUND'],
          [`disputes/${hidden[1]}`, 'DISPUTE_NOT_FOUND'],
        ] as const)
          expect(refusalOf(await each(path)), path).toEqual([404, code]);
    }
    expect(idsOf(await other.list())).toEqual([]);
    // A cursor is no key: it only says where a page begins.
    const after = disputeCursors.format({ at: new Date(), id });
    expect(idsOf(await other.list({ cursor: after }))).toEqual([]);
  });

  it('are filtered by stage, status, payment and the time of opening, alone and combined', async () => {
    const { list, pay, dispute } = await aCaller();
    const [a, b] = [await pay(), await pay()];
    const asked = await dispute(a, { stage: 'inquiry', openedAt: march('01T10:00:00') });
    const lost = await dispute(a, { status: 'lost', openedAt: march('02T10:00:00.123') });
    const open = await dispute(b, { openedAt: march('03T23:59:59.999') });
    const queries: [Record<string, string>, string[]][] = [
      [{}, [open, lost, asked]],
      [{ stage: 'inquiry' }, [asked]],
      [{ stage: 'chargeback' }, [open, lost]],
      [{ status: 'needs_response' }, [open, asked]],
      [{ status: 'won' }, []],
      [{ stage: 'chargeback', status: 'needs_response' }, [open]],
      [{ payment_id: a }, [lost, asked]],
      [{ payment_id: a, status: 'lost' }, [lost]],
      [{ payment_id: b, stage: 'inquiry' }, []],
      [{ from: '2026-03-02' }, [open, lost]],
      [{ to: '2026-03-02' }, [lost, asked]],
      [{ from: '2026-03-03', to: '2026-03-03' }, [open]],
      [{ from: '2026-03-02T10:00:00.123Z' }, [open, lost]],
      [{ to: '2026-03-02T10:00:00.123Z' }, [asked]],
      [{ status: 'needs_response', to: '2026-03-02' }, [asked]],
    ];
    for (const [query, expected] of queries)
      expect(idsOf(await list(query)), JSON.stringify(query)).toEqual(expected);
  });

  it('come in pages, also those of the same millisecond', async () => {
    const { list, request, pay, dispute } = await aCaller();
    const paymentId = await pay();
    const same: string[] = [];
    for (let count = 0; count < 5; count += 1)
      same.push(await dispute(paymentId, { openedAt: march('05T00:00:00') }));
    const newer = await dispute(paymentId, { openedAt: march('06T00:00:00') });
    const all = [newer, ...same.toSorted().toReversed()];
    expect(idsOf(await list())).toEqual(all);

    for (const path of ['disputes', `payments/${paymentId}/disputes`]) {
      const pages = await readPages(
        (cursor) => request(`${path}?per_page=2${cursor === undefined ? '' : `&cursor=${cursor}`}`),
        // A dispute between two pages must not repeat or hide one.
        async () => dispute(await pay(), { openedAt: march('07T00:00:00') }),
      );
      for (const page of pages) {
        const { per_page, has_more } = paginationOf(page);
        expect([per_page, has_more]).toEqual([2, page !== pages.at(-1)]);
        expect(idsOf(page)).toHaveLength(2);
      }
      expect(pages.flatMap(idsOf).filter((id) => all.includes(String(id)))).toEqual(all);
    }
  });

  it.each([
    ['status=won,lost', 'status'],
    ['status=won&status=lost', 'status'],
    ['from=2027-02-01', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    [
      `cursor=${refundCursors.format({ at: new Date(), id: 'REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV' })}`,
      'cursor',
    ],
    [`cursor=${Buffer.from("d1:1:DISPUTE_'--").toString('base64url')}`, 'cursor'],
  ])('rejects %s', async (query, path) => {
    const { request } = await aCaller();
    const answer = await request(`disputes?${query}`);
    expect(refusalOf(answer)).toEqual([422, 'VALIDATION_FAILED']);
    expect(problemsOf(answer)).toMatchObject([{ path }]);
  });

  it('answers 404 for a dispute or a payment that does not exist', async () => {
    const { request } = await aCaller();
    for (const [path, code] of [
      [`disputes/${disputeId('stripe', 'none')}`, 'DISPUTE_NOT_FOUND'],
      ['disputes/dp_1', 'DISPUTE_NOT_FOUND'],
      [`disputes/${disputeId('stripe', 'none').toLowerCase()}`, 'DISPUTE_NOT_FOUND'],
      ['disputes/%00', 'DISPUTE_NOT_FOUND'],
      [`disputes/${newPaymentId()}`, 'DISPUTE_NOT_FOUND'],
      [`disputes?payment_id=${newPaymentId()}`, 'PAYMENT_NOT_FOUND'],
      [`payments/${newPaymentId()}/disputes`, 'PAYMENT_NOT_FOUND'],
      ['payments/PAY_1/disputes', 'PAYMENT_NOT_FOUND'],
    ] as const)
      expect(refusalOf(await request(path)), path).toEqual([404, code]);
  });
});
