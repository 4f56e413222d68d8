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

interface Item {
  id: string;
  _links?: Record<string, unknown>;
}

/** A page of a list as Mollie shows it: `from` is the first item of the page. */
export const pageOf = (
  name: string,
  all: readonly Item[],
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
  const links = linksOf({ self: link(path), previous: null, next: next ?? null });
  return { body: { count: items.length, _embedded: { [name]: items }, _links: links } };
};

const withoutDocumentation = (item: Item): object => {
  const { _links: links } = item;
  if (!links) return item;
  const { documentation: _, ...others } = links;
  return { ...item, _links: others };
};

/** Decimal text of an amount in the smallest units that the wire has. */
export const amountText = (amount: number, currency: string) => {
  const places = currency === 'JPY' || currency === 'ISK' ? 0 : 2;
  const value = amount / 10 ** places;
  return { currency, value: Number.isInteger(amount) ? value.toFixed(places) : String(value) };
};

/** ISO 8601 with the seconds and the offset of Mollie. */
export const timeText = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, '+00:00');
