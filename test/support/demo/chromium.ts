import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { MissingProgram } from '../../../stack/programs/machine.ts';

/** The shell is Chromium without a window, at half of its CPU. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);
const installLock = '/run/lock/payments-chromium';
const installOnce =
  'test -x /usr/bin/chromium-headless-shell || { apt-get update && apt-get install -y chromium-headless-shell; }';
const installLimitMs = 8 * 60_000;

/** Everything that would make Chromium talk to anyone but the pages it is given. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** @throws MissingProgram */
export const launchChromium = async (): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: findProgram() ?? install(), args });
  // A busy machine takes longer than Playwright's 30 s.
  browser.on('context', (context) => context.setDefaultTimeout(120_000));
  return browser;
};

const findProgram = () => programs.find((path) => existsSync(path));

const install = (): string => {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && existsSync('/etc/debian_version'))
    try {
      console.log('Installing the package chromium-headless-shell, once …');
      const options = { timeout: installLimitMs, stdio: 'pipe' } as const;
      // Another test file may install it at this moment.
      execFileSync('/usr/bin/flock', [installLock, '/bin/sh', '-c', installOnce], options);
    } catch (error) {
      // A busy machine is no reason to leave tests out.
      if ((error as NodeJS.ErrnoException).code === 'ETIMEDOUT') throw error;
      const message = 'Chromium is missing and "apt-get install chromium-headless-shell" failed.';
      throw new MissingProgram(message, { cause: error });
    }
  const program = findProgram();
  if (program) return program;
  throw new MissingProgram(
    'Chromium is missing: install it (on Debian the package is "chromium-headless-shell") as one of ' +
      `${programs.join(', ')}.`,
  );
};
