import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { attentionKinds } from '../../../../postgres/admin/attention.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console } = await startFilledConsole();

/** A form leads there. */
const withoutLink = ['/deliveries/replay', '/search'];
/** While such payments or orders wait: attention.test.ts and order.test.ts follow these links. */
const ofAttention = [...attentionKinds, 'paid-twice'].map((kind) => `/attention/${kind}`);

it('links lead from the overview to every page that has one address, and it is there', async () => {
  const pages = createRoutes(console.deps).filter(
    ({ method, role, isPolled }) => method === 'GET' && role !== 'anyone' && !isPolled,
  );
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
  const reader = await console.logIn('admin');
  const statuses = new Map<string, number>();
  const todo = ['/'];
  for (let address = todo.pop(); address !== undefined; address = todo.pop()) {
    const [path = ''] = address.split('?', 1);
    const page =
      pages.find((each) => each.path === path) ??
      pages.find((each) => patternOf(each.path).test(path));
    if (!page || statuses.has(page.path)) continue;
    const { status, text } = await reader.get(address);
    statuses.set(page.path, status);
    const links = [...text.matchAll(/ href="(\/[^"#]*)/g)];
    todo.push(...links.map(([, link = '']) => link.replaceAll('&amp;', '&')));
  }
  const lost = pages
    .map(({ path }) => path)
    .filter((path) => !path.includes(':') && ![...ofAttention, ...withoutLink].includes(path))
    .filter((path) => (statuses.get(path) ?? 404) >= 300);
  expect(lost).toEqual([]);
});
