import type { Browser } from 'playwright-core';
import { afterAll } from 'vitest';
import { launchChromium } from '../demo/chromium.ts';
import { useProgram } from './use-program.ts';

/** Launches one browser for the tests of a file. On a machine that cannot get Chromium they are skipped. */
export const useBrowser = (): (() => Browser) => {
  const browser = useProgram(launchChromium);
  afterAll(async () => {
    await browser()?.close();
  });
  return browser;
};
