import { createConsoleLoginQueries } from '../../../postgres/console/logins.ts';
import { freePort } from '../../../stack/ports.ts';
import { call, logInBy } from '../service/console.ts';
import { createProcess } from '../service/processes.ts';
import type { Service } from '../service/service.ts';
import type { Place } from './secret-leaks.ts';

/** The same page with other values of its filters, or of another day, shows the same fields. */
const kindOf = (path: string): string => {
  const { pathname, searchParams } = new URL(path, 'http://console');
  return `${pathname.replaceAll(/\d{4}-\d\d-\d\d/g, 'day')}?${[...searchParams.keys()].toSorted().join('&')}`;
};

/**
 * Follows every link of the console and of these pages as an admin who looks at tests, and searches for these texts.
 * @returns its pages and its log, and the status of each search, whose page repeats the text
 */
export const consolePagesOf = async (
  service: Service,
  { paths, searches }: { paths: readonly string[]; searches: readonly string[] },
): Promise<{ places: Place[]; found: number[] }> => {
  const port = await freePort();
  const process = createProcess('console', 'admin/console/main.ts', {
    ...service.env,
    CONSOLE_PORT: String(port),
    CONSOLE_BASE_URL: `http://console.localhost:${port}`,
  });
  await process.start();
  const places: Place[] = [];
  const found: number[] = [];
  try {
    const role = { role: 'admin', applications: null } as const;
    const code = await createConsoleLoginQueries(service.sql).issueLink('grace', role);
    const cookie = `${await logInBy(port, code)}; console-mode=test`;
    const get = (path: string) => call(port, path, { cookie });
    const todo = ['/', ...paths];
    const seen = new Set<string>();
    for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
      const kind = kindOf(path);
      if (seen.has(kind)) continue;
      seen.add(kind);
      const { text, headers: answered } = await get(path);
      places.push({ where: `console ${path}`, text: `${JSON.stringify(answered)} ${text}` });
      const links = [...text.matchAll(/ (?:href|hx-get)="(\/[^"#]*)/g)];
      todo.push(...links.map(([, link = '']) => link.replaceAll('&amp;', '&')));
      if (answered.location?.startsWith('/')) todo.push(answered.location);
    }
    for (const search of searches)
      found.push((await get(`/search?text=${encodeURIComponent(search)}`)).status);
  } finally {
    await process.stop();
  }
  for (const text of process.lines) places.push({ where: 'log of console', text });
  return { places, found };
};
