import type { BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { useBrowser } from '../runner/use-browser.ts';
import type { TestConsole } from './console.ts';

interface Options extends BrowserContextOptions {
  /** Runs in each page before its own scripts. Its policy does not apply to it. */
  script?: string;
}

/** @returns a function that opens a page of the console, as a person, in a browser that nobody has used before */
export const useConsolePages = (console: TestConsole) => {
  const browser = useBrowser();
  return async (path: string, { script, ...options }: Options = {}) => {
    const context = await browser().newContext(options);
    onTestFinished(() => context.close());
    const { cookie } = await console.logIn('admin', 'ada');
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url: console.baseUrl }]);
    if (script !== undefined) await context.addInitScript({ content: script });
    const page = await context.newPage();
    await page.goto(`${console.baseUrl}${path}`);
    return page;
  };
};
