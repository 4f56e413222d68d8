import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { attentionKinds } from '../../../../postgres/admin/attention.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console } = await startFilledConsole();

/** A form leads there. */
const withoutLink = ['/deliveries/replay', '/search'];
/** While such payments or orders wait: attention.test.ts and order.test.ts follow these links. */
const ofAttention = [...attentionKinds, 'paid-twice'].map((kind) => `/attention/${kind}`);

/** The links of a page, and where its forms lead to that change nothing. A browser without scripts sends empty fields, too. */
const addressesIn = (page: string): string[] => {
  const links = [...page.matchAll(/ href="(\/[^"#]*)/g)].map(([, link = '']) => link);
  const forms = [...page.matchAll(/<form [^>]*method="get" action="([^"]+)">([^]*?)<\/form>/g)];
  const sent = forms.flatMap(([, path = '', fields = '']) => {
    const query = new URLSearchParams(
      [...fields.matchAll(/<(?:input|select)[^>]* name="([^"]+)"(?:[^>]* value="([^"]*)")?/g)].map(
        ([, name = '', value = '']): [string, string] => [name, value],
      ),
    );
    return [...fields.matchAll(/<button(?: name="(\w+)" value="(\w+)")?/g)].map(
      ([, name, value = '']) => `${path}?${String(query)}${name ? `&${name}=${value}` : ''}`,
    );
  });
  return [...links, ...sent].map((each) => each.replaceAll('&amp;', '&'));
};

it('links and forms lead from the overview to every page that has one address, which understands all of their fields', async () => {
  const pages = createRoutes(console.deps).filter(
    ({ method, role, isPolled }) => method === 'GET' && role !== 'anyone' && !isPolled,
  );
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
  const reader = await console.logIn('admin');
  const statuses = new Map<string, number>();
  const visited = new Set<string>();
  const notUnderstood: string[] = [];
  const todo = ['/'];
  for (let address = todo.pop(); address !== undefined; address = todo.pop()) {
    const [path = '', query = ''] = address.split('?');
    const page =
      pages.find((each) => each.path === path) ??
      pages.find((each) => patternOf(each.path).test(path));
    // One address of each page with the same fields.
    const kind = `${page?.path}?${[...new URLSearchParams(query).keys()].toSorted().join('&')}`;
    if (!page || visited.has(kind)) continue;
    visited.add(kind);
    const { status, text } = await reader.get(address);
    if (status < 400 || !statuses.has(page.path)) statuses.set(page.path, status);
    if (text.includes('this address is not understood')) notUnderstood.push(address);
    todo.push(...addressesIn(text));
    for (const [, part = ''] of text.matchAll(/ hx-get="([^"]+)"/g))
      if ((await reader.get(part.replaceAll('&amp;', '&'))).status >= 400) notUnderstood.push(part);
  }
  expect(notUnderstood).toEqual([]);
  expect(visited.size).toBeGreaterThan(statuses.size);
  const lost = pages
    .map(({ path }) => path)
    .filter((path) => !path.includes(':') && ![...ofAttention, ...withoutLink].includes(path))
    .filter((path) => (statuses.get(path) ?? 404) >= 300);
  expect(lost).toEqual([]);
});
