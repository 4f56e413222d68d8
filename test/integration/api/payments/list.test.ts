import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { listed, paginationOf, problemsOf, readPages } from '../../../support/service/answers.ts';
import { createJourney, type Answer } from '../../../support/service/journey.ts';
import { writePayments, type WrittenPayment } from '../../../support/data/payments.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());

const idsOf = (answer: Answer) => listed(answer, 'payment_id');
const fieldsOf = (answer: Answer) => problemsOf(answer).map(({ path }) => path);

const march = (time: string) => new Date(`2026-03-${time}Z`);

const aCaller = async () => {
  const { application, issue, journey } = await service.anApplication();
  return {
    ...journey,
    application,
    issue,
    list: (query: Record<string, string | number> | string = {}) => {
      const text =
        typeof query === 'string'
          ? query
          : new URLSearchParams(query as Record<string, string>).toString();
      return journey.request('GET', `/api/v1/payments?${text}`);
    },
    /** Writes a payment that no workflow knows. @returns its id */
    async write(time: string, fields: WrittenPayment = {}) {
      const [id, createdAt] = [newPaymentId(), march(time)];
      await writePayments(service.sql, [{ id, application, createdAt, ...fields }]);
      return id;
    },
  };
};

describe('GET /api/v1/payments', () => {
  it('returns the same bytes as single reads, newest first', async () => {
    const { list, create, get } = await aCaller();
    const empty = await list();
    expect(empty.text).toBe(
      '{"data":[],"pagination":{"page":1,"per_page":20,"has_more":false,"next_cursor":null}}',
    );
    const one = await create({ metadata: { b: 1, 1: 2 } });
    const two = await create();
    const { text } = await list();
    expect(text).toBe(
      `{"data":[${(await get(two)).text},${(await get(one)).text}],` +
        '"pagination":{"page":1,"per_page":20,"has_more":false,"next_cursor":null}}',
    );
  });

  it('hides the payments of other applications and of the other mode', async () => {
    const mine = await aCaller();
    const other = await aCaller();
    const id = await mine.write('01T00:00:00');
    const live = await mine.write('01T00:00:00', { test: false });
    await other.write('01T00:00:00');
    expect(idsOf(await mine.list())).toEqual([id]);
    const withLive = createJourney(service, await mine.issue('live'));
    expect(idsOf(await withLive.request('GET', '/api/v1/payments'))).toEqual([live]);
  });

  it('filters by order, status and time, alone and combined', async () => {
    const { list, write } = await aCaller();
    const paid = await write('01T10:00:00', { orderId: 'a', status: 'paid' });
    const failed = await write('02T10:00:00.123', { orderId: 'a', status: 'failed' });
    const pending = await write('03T23:59:59.999', { orderId: 'b' });
    const all = [pending, failed, paid];
    for (const [query, expected] of [
      [{}, all],
      [{ order_id: 'a' }, [failed, paid]],
      [{ order_id: 'A' }, []],
      [{ status: 'pending' }, [pending]],
      [{ status: 'processing' }, []],
      [{ from: '2026-03-02' }, [pending, failed]],
      [{ to: '2026-03-02' }, [failed, paid]],
      [{ from: '2026-03-03', to: '2026-03-03' }, [pending]],
      [{ from: '2026-03-02T10:00:00.123Z' }, [pending, failed]],
      [{ from: '2026-03-02T10:00:00.1230001Z' }, [pending]],
      [{ to: '2026-03-02T10:00:00.123Z' }, [paid]],
      [{ to: '2026-03-02T10:00:00.1230001Z' }, [failed, paid]],
      [{ from: '2026-03-02T13:30:00.123+03:30', to: '2026-03-02T09:00:01-01:00' }, [failed]],
      [{ from: '2026-03-02t10:00:00z' }, [pending, failed]],
      // As Python prints a time, and as a query shows a plus that is not encoded.
      [{ from: '2026-03-02 10:00:00.123000+00:00', to: '2026-03-02T13:31:00 03:30' }, [failed]],
      [{ from: '2026-03-02T10:00Z', to: '2026-03-02T13:31+0330' }, [failed]],
      [{ order_id: 'a', status: 'paid' }, [paid]],
      [{ order_id: 'a', status: 'paid', from: '2026-03-02' }, []],
      [{ order_id: 'a', status: 'failed', from: '2026-03-02', to: '2026-03-02' }, [failed]],
    ] as const)
      expect(idsOf(await list(query)), JSON.stringify(query)).toEqual(expected);
  });

  it('pages by number and by cursor, also over payments of the same millisecond', async () => {
    const { list, write } = await aCaller();
    const written: string[] = [];
    for (let index = 0; index < 7; index += 1)
      written.push(await write(index < 5 ? '05T00:00:00' : '06T00:00:00'));
    const all = idsOf(await list());
    expect(all).toEqual([
      ...written.slice(5).toSorted().toReversed(),
      ...written.slice(0, 5).toSorted().toReversed(),
    ]);

    const pages = [];
    for (const page of [1, 2, 3, 4]) pages.push(await list({ per_page: 3, page }));
    expect(pages.flatMap(idsOf)).toEqual(all);
    expect(pages.map(paginationOf)).toMatchObject([
      { page: 1, has_more: true },
      { page: 2, has_more: true },
      { page: 3, has_more: false },
      { page: 4, has_more: false },
    ]);

    const byCursor = await readPages(
      (cursor) => list({ per_page: 2, ...(cursor !== undefined && { cursor }) }),
      // A new payment between two pages must not repeat or hide one.
      () => write('07T00:00:00'),
    );
    expect(byCursor.flatMap(idsOf)).toEqual(all);
    for (const page of byCursor.slice(1)) {
      expect(paginationOf(page)).toMatchObject({ page: null, per_page: 2 });
      expect(idsOf(page).length).toBeGreaterThan(0);
    }
    expect(idsOf(await list({ per_page: 100 }))).toHaveLength(10);
  });

  it('combines a cursor with `to`', async () => {
    const { list, write } = await aCaller();
    const [first, second, third, fourth] = [
      await write('10T00:00:01'),
      await write('10T00:00:02'),
      await write('10T00:00:02'),
      await write('10T00:00:03'),
    ];
    const [low, high] = [second, third].toSorted();
    const cursor = paginationOf(await list({ per_page: 2 })).next_cursor ?? '';
    expect(idsOf(await list({ per_page: 2 }))).toEqual([fourth, high]);
    for (const [at, expected] of [
      ['04', [low, first]],
      ['02.001', [low, first]],
      ['02', [first]],
      ['01', []],
    ] as const)
      expect(idsOf(await list({ cursor, to: `2026-03-10T00:00:${at}Z` })), at).toEqual(expected);
  });

  it('accepts every parameter at its limits', async () => {
    const { list } = await aCaller();
    for (const query of [
      { per_page: 1 },
      { per_page: 100, page: 100 },
      { per_page: 1, page: 10_000 },
      { order_id: '𝒳'.repeat(100) },
      { from: '1970-01-01', to: '9999-12-31' },
      { from: '2024-02-29' },
    ])
      expect((await list(query)).status, JSON.stringify(query)).toBe(200);
  });

  it.each([
    ['per_page=٣', ['per_page']],
    ['page=501', ['page']],
    ['page=10001&per_page=1', ['page']],
    ['page=99999999999999999999', ['page']],
    ['cursor=MTo5OTk5OTk5OTk5OTk5OTk5Og', ['cursor']],
    ['cursor=PAY_01J00000000000000000000000', ['cursor']],
    ['status=paid,failed', ['status']],
    ['from=2026-02-30T00:00:00Z', ['from']],
    ['from=2026-03-01T00:00:00 00', ['from']],
    ['from=2026-03-01  00:00:00Z', ['from']],
    ['from=2826-03-01', ['from']],
    ['from=2026-03-01T00Z', ['from']],
    ['from=2026-03-04&to=2026-03-01', ['to']],
    ['from=0000-01-01', ['from']],
    ['metadata%5Ba%5D=1', ['metadata[a]']],
    ['__proto__=1', ['__proto__']],
    ['status=paid&status=failed&page=1', ['status']],
    ['status=foo&page=200&per_page=100', ['page', 'status']],
    ['page=501&nothing=1', ['nothing', 'page']],
    ['page=200&per_page=101', ['page', 'per_page']],
    ['page=2&cursor=x', ['cursor', 'page']],
    [
      'per_page=0&page=0&status=x&from=x&to=x&order_id=&cursor=x&nothing=1&nothing=2',
      ['cursor', 'from', 'nothing', 'order_id', 'page', 'per_page', 'status', 'to'],
    ],
  ])('rejects %s', async (query, paths) => {
    const { list } = await aCaller();
    const answer = await list(query);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json['error']).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect([...new Set(fieldsOf(answer))].sort()).toEqual(paths);
  });

  it('rejects a page together with a cursor, and an altered cursor', async () => {
    const { list, write } = await aCaller();
    await write('01T00:00:00');
    await write('02T00:00:00');
    const cursor = paginationOf(await list({ per_page: 1 })).next_cursor ?? '';
    expect(await list({ cursor })).toMatchObject({ status: 200 });
    expect(fieldsOf(await list({ cursor, page: 1 }))).toEqual(['page']);
    expect(fieldsOf(await list({ cursor, page: 2, status: 'foo' }))).toEqual(['status', 'page']);
    expect(fieldsOf(await list(`cursor=${cursor}%00`))).toEqual(['cursor']);
    expect(fieldsOf(await list(`cursor=${cursor}==`))).toEqual(['cursor']);
  });

  it('shows as refundable what the account of each payment gives back, as the payment alone does', async () => {
    const { application, request } = await aCaller();
    const paid = {
      application,
      test: true,
      status: 'paid',
      amount: 150_000,
      currency: 'IRR',
    } as const;
    const ofAccount = async (gateway: string, refundCredentials: string | null) => {
      await service.sql`
        insert into gateways (slug, driver, kind, credentials, refund_credentials)
        values (${gateway}, 'zarinpal', 'live', 'sealed', ${refundCredentials})`;
      const id = newPaymentId();
      await writePayments(service.sql, [{ ...paid, id, gateway, updatedAt: march('10T10:00:00') }]);
      return id;
    };
    const some = [
      await ofAccount(`without-${application}`, null),
      await ofAccount(`with-${application}`, 'sealed'),
    ];
    const shown = async () => {
      const { json } = await request('GET', '/api/v1/payments');
      const all = json['data'] as Record<string, unknown>[];
      return Promise.all(
        some.map(async (id) => {
          const alone = (await request('GET', `/api/v1/payments/${id}`)).json;
          expect(all.find((each) => each['payment_id'] === id)).toEqual(alone);
          return [alone['refundable'], alone['refundable_until']];
        }),
      );
    };

    const reversible = [0, '2026-03-10T10:25:00.000+00:00'];
    expect(await shown()).toEqual([reversible, [150_000, null]]);
    // It follows the account, not the time of the payment.
    await service.sql`update gateways set refund_credentials = null where slug = ${`with-${application}`}`;
    expect(await shown()).toEqual([reversible, reversible]);
  });
});
