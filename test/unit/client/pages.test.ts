import { expect, it } from 'vitest';
import { PaymentsError } from '../../../client/src/index.ts';
import { aClient, aPage, aPayment, json } from '../../support/client/scripted-server.ts';

const page = (ids: string[], next: string | null, has_more = next !== null) =>
  json(200, aPage(ids.map(aPayment), next, has_more));

it('a list goes through all pages with the same filters and a cursor', async () => {
  const { client, seen } = await aClient([
    page(['1', '2'], 'c1'),
    page(['3', '4'], 'c2'),
    page(['5'], null),
  ]);
  const ids: string[] = [];
  for await (const { payment_id } of client.payments.list({ order_id: 'o', per_page: 2, page: 3 }))
    ids.push(payment_id);
  expect(ids).toEqual(['1', '2', '3', '4', '5']);
  expect(seen.map(({ url }) => url)).toEqual([
    '/api/v1/payments?order_id=o&per_page=2&page=3',
    '/api/v1/payments?order_id=o&per_page=2&cursor=c1',
    '/api/v1/payments?order_id=o&per_page=2&cursor=c2',
  ]);
});

it('a list fetches the next page only when an entry of it is wanted', async () => {
  const { client, seen } = await aClient([page(['1', '2'], 'c1')]);
  for await (const { payment_id } of client.payments.list()) if (payment_id === '2') break;
  expect(seen).toHaveLength(1);
});

it('a feed ends at the last page and keeps its cursor', async () => {
  const { client, seen } = await aClient([page(['1'], 'c1'), page(['2'], 'c2', false)]);
  let cursor: string | null = null;
  for await (const { pagination } of client.events.list({ order: 'asc' }).pages())
    cursor = pagination.next_cursor;
  expect(cursor).toBe('c2');
  expect(seen.map(({ url }) => url)).toEqual([
    '/api/v1/events?order=asc',
    '/api/v1/events?order=asc&cursor=c1',
  ]);
});

it('a list can be read twice', async () => {
  const { client, seen } = await aClient([page(['1'], null)]);
  const list = client.payments.list();
  for await (const { payment_id } of list) expect(payment_id).toBe('1');
  expect((await list.page()).data).toHaveLength(1);
  expect(seen).toHaveLength(2);
});

it.each([
  ['a cursor repeats', [page(['1'], 'a'), page(['2'], 'a')], 2],
  ['cursors go in a circle', [page(['1'], 'a'), page(['2'], 'b'), page(['3'], 'a')], 3],
  ['a cursor is empty', [page(['1'], '')], 1],
  ['a cursor is missing', [page(['1'], null, true)], 1],
  ['a page is empty', [page(['1'], 'a'), page([], 'b')], 2],
])('a list ends with an error when %s', async (_name, replies, requests) => {
  const { client, seen } = await aClient(replies);
  const all = async () => {
    for await (const payment of client.payments.list()) void payment;
  };
  await expect(all()).rejects.toThrow(PaymentsError);
  expect(seen).toHaveLength(requests);
});
