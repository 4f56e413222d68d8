import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { refundCursors } from '../../../../contract/list-refunds.ts';
import type { MovementKind } from '../../../../contract/movement.ts';
import {
  listed,
  paginationOf,
  problemsOf,
  readPages,
  refusalOf,
} from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { refund, refundBecomes } from '../../../support/service/refunds.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';
import { until } from '../../../support/until.ts';

const service = await forFile(useService());
// Its account is in Tehran, where the day begins at 20:30 UTC.
const gateway = `movements-${randomUUID().slice(0, 8)}`;
await service.addGateway({ slug: gateway, driver: 'sandbox', kind: 'sandbox' });
await service.sql`update gateways set time_zone = 'Asia/Tehran' where slug = ${gateway}`;

const idsOf = (answer: Answer) => listed(answer, 'movement_id');

interface Written {
  kind?: MovementKind;
  paymentId?: string;
  test?: boolean;
  occurredAt?: string;
}

const aCaller = async () => {
  const { application, issue, journey } = await service.anApplication();
  return {
    ...journey,
    application,
    issue,
    list: (query: Record<string, string> = {}) =>
      journey.request('GET', `/api/v1/movements?${new URLSearchParams(query).toString()}`),
    /** Writes a movement without its payment, which was recorded in March and counts today. @returns its id */
    async write(
      time: string,
      { kind = 'payment', paymentId = newPaymentId(), test = true, occurredAt }: Written = {},
    ) {
      const id = `${kind}:${kind === 'fee' ? `${gateway}:txn_${randomUUID()}` : paymentId}`;
      const at = `2026-03-${time}Z`;
      await service.sql`
        insert into movements (id, kind, gateway, day, payment_id, application, test, order_id, amount, currency,
          occurred_at, recorded_at)
        values (${id}, ${kind}, ${gateway}, (now() at time zone 'Asia/Tehran')::date, ${paymentId}, ${application},
          ${test}, 'order-1', 1250, 'EUR', ${occurredAt ?? at}, ${at})`;
      return id;
    },
  };
};

describe('GET /api/v1/movements', () => {
  it('has the amount of a paid payment with plus, and that of its refund with minus', async () => {
    const caller = await aCaller();
    const { list, application } = caller;
    expect((await list()).text).toBe(
      '{"data":[],"pagination":{"per_page":20,"has_more":false,"next_cursor":null}}',
    );
    const id = await caller.finish('pay');
    const payment = await until('it is paid', async () => {
      const { json } = await caller.get(id);
      return json['status'] === 'paid' && json;
    });
    const { json } = await refund(caller, id, { amount: 600 });
    const refundId = String(json['refund_id']);
    const refunded = await refundBecomes(caller, refundId, 'succeeded');

    const movements = await list();
    const [refundDay, paymentDay] = listed(movements, 'recorded_at').map((at) =>
      String(at).slice(0, 10),
    );
    const common = {
      ...{ payment_id: id, application, order_id: 'order-1', gateway: 'sandbox' },
      ...{ currency: 'EUR', test: true },
    };
    expect(movements.json['data']).toMatchObject([
      {
        ...common,
        ...{ kind: 'refund', movement_id: `refund:${refundId}`, refund_id: refundId },
        ...{ amount: -600, day: refundDay, earlier_day: null },
        reference: expect.stringMatching(/^SBXR/) as string,
        occurred_at: refunded['succeeded_at'],
      },
      {
        ...common,
        ...{ kind: 'payment', movement_id: `payment:${id}`, refund_id: null },
        ...{ amount: 1250, day: paymentDay, earlier_day: null },
        reference: expect.stringMatching(/^SBX/) as string,
        occurred_at: payment['paid_at'],
      },
    ]);
  });

  it("has the earlier day on which a movement happened, in the account's time zone", async () => {
    const { list, write } = await aCaller();
    await write('05T00:00:00', { occurredAt: '2026-03-01T20:30:00Z' });
    await write('04T00:00:00', { occurredAt: '2026-03-01T20:29:59Z' });
    await write('03T00:00:00', { occurredAt: new Date().toISOString() });
    expect(listed(await list(), 'earlier_day')).toEqual(['2026-03-02', '2026-03-01', null]);
  });

  it('hides the movements of other applications and of the other mode', async () => {
    const mine = await aCaller();
    const other = await aCaller();
    const id = await mine.write('01T00:00:00');
    const live = await mine.write('01T00:00:00', { test: false });
    const paymentId = newPaymentId();
    const theirs = await other.write('01T00:00:00', { paymentId });
    expect(idsOf(await mine.list())).toEqual([id]);
    const unknown = await mine.list({ payment_id: paymentId });
    expect(refusalOf(unknown)).toEqual([404, 'PAYMENT_NOT_FOUND']);
    expect(idsOf(await other.list({ payment_id: paymentId }))).toEqual([theirs]);
    const withLive = createJourney(service, await mine.issue('live'));
    expect(idsOf(await withLive.request('GET', '/api/v1/movements'))).toEqual([live]);
  });

  it('filters by kind, payment and the time of recording, alone and combined', async () => {
    const { list, write } = await aCaller();
    const [a, b] = [newPaymentId(), newPaymentId()];
    const occurredAt = '2026-02-01T00:00:00Z';
    const paid = await write('01T10:00:00', { paymentId: a, occurredAt });
    const fee = await write('02T10:00:00.123', { kind: 'fee', paymentId: a, occurredAt });
    const late = await write('03T23:59:59.999', { kind: 'late_payment', paymentId: b, occurredAt });
    const queries: [Record<string, string>, string[]][] = [
      [{}, [late, fee, paid]],
      [{ kind: 'fee' }, [fee]],
      [{ kind: 'chargeback' }, []],
      [{ payment_id: a }, [fee, paid]],
      [{ from: '2026-03-02' }, [late, fee]],
      [{ to: '2026-03-02' }, [fee, paid]],
      [{ from: '2026-03-03', to: '2026-03-03' }, [late]],
      [{ from: '2026-03-02T10:00:00.123Z' }, [late, fee]],
      [{ to: '2026-03-02T10:00:00.123Z' }, [paid]],
      [{ payment_id: a, kind: 'payment' }, [paid]],
      [{ payment_id: a, kind: 'fee', from: '2026-03-02', to: '2026-03-02' }, [fee]],
      [{ payment_id: b, to: '2026-03-02' }, []],
    ];
    for (const [query, expected] of queries)
      expect(idsOf(await list(query)), JSON.stringify(query)).toEqual(expected);
  });

  it('pages by cursor, also over movements of the same millisecond', async () => {
    const { list, write } = await aCaller();
    const written: string[] = [];
    for (const kind of ['fee', 'fee', 'payment', 'payment', 'payment'] as const)
      written.push(await write('05T00:00:00', { kind }));
    const newer = await write('06T00:00:00');
    const all = [newer, ...written.toSorted().toReversed()];
    expect(idsOf(await list())).toEqual(all);

    const pages = await readPages(
      (cursor) => list({ per_page: '2', ...(cursor !== undefined && { cursor }) }),
      // A new movement between two pages must not repeat or hide one.
      () => write('07T00:00:00'),
    );
    expect(pages.map(idsOf)).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
    expect(pages.map(paginationOf)).toMatchObject([
      { per_page: 2, has_more: true },
      { per_page: 2, has_more: true },
      { per_page: 2, has_more: false },
    ]);
  });

  it.each([
    ['kind=fee,payment', 'kind'],
    [
      `cursor=${refundCursors.format({ at: new Date(), id: 'REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV' })}`,
      'cursor',
    ],
    [`cursor=${Buffer.from('m1 1 payment:\0').toString('base64url')}`, 'cursor'],
    ['kind=fee&kind=fee', 'kind'],
  ])('rejects %s', async (query, path) => {
    const { request } = await aCaller();
    const answer = await request('GET', `/api/v1/movements?${query}`);
    expect(refusalOf(answer)).toEqual([422, 'VALIDATION_FAILED']);
    expect(problemsOf(answer)).toMatchObject([{ path }]);
  });
});
