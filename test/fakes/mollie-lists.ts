import type { FakeResponse } from './server.ts';

const origin = 'https://api.mollie.com';

export const link = (path: string, type = 'application/hal+json') => ({
  href: `${origin}${path}`,
  type,
});
const documentation = link('/docs', 'text/html');

/** The links of an answer. The items of a list have none to the documentation. */
export const linksOf = <Links extends object>(links: Links) => ({ ...links, documentation });

/** An error as Mollie shows it. */
export const problem = (status: number, detail: string, field?: string): FakeResponse => ({
  status,
  body: {
    ...{ status, title: titles[status] ?? 'Error', detail, ...(field !== undefined && { field }) },
    _links: { documentation },
  },
});
const titles: Record<number, string> = {
  401: 'Unauthorized Request',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable Entity',
};

/** A page of a list as Mollie shows it: `from` is the first item of the page. */
export const pageOf = (
  name: string,
  all: readonly { id: string }[],
  { path, query }: { path: string; query: URLSearchParams },
  most = 250,
): FakeResponse => {
  const limit = Math.min(Number(query.get('limit') ?? 50), most);
  const from = query.get('from');
  const at = from === null ? 0 : all.findIndex(({ id }) => id === from);
  if (at < 0) return problem(400, 'The item does not exist', 'from');
  const items = all.slice(at, at + limit).map(withoutDocumentation);
  const following = all[at + limit];
  const next = following && link(`${path}?from=${following.id}&limit=${limit}`);
  const _links = { self: link(path), previous: null, next: next ?? null, documentation };
  return { body: { count: items.length, _embedded: { [name]: items }, _links } };
};

const withoutDocumentation = (item: { id: string }): object => {
  if (!('_links' in item)) return item;
  const { documentation: _, ...links } = item._links as Record<string, unknown>;
  return { ...item, _links: links };
};

/** Decimal text of an amount in the smallest units that the wire has. */
export const amountText = (amount: number, currency: string) => {
  const places = currency === 'JPY' || currency === 'ISK' ? 0 : 2;
  return { currency, value: (amount / 10 ** places).toFixed(places) };
};

/** ISO 8601 with the seconds and the offset of Mollie. */
export const timeText = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, '+00:00');
