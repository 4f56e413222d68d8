import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import type { ConnectionFile } from '../../../stack/connection-file.ts';
import { freePort } from '../../../stack/ports.ts';
import { projectFiles } from '../../support/checks/project-files.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { blocksOf, programs } from '../../support/client/readme.ts';
import { runCommand, startStack } from '../../support/demo/stack.ts';
import { forFile } from '../../support/for-file.ts';
import { useBrowser } from '../../support/runner/use-browser.ts';
import { call } from '../../support/service/console.ts';
import {
  type Address,
  oddRequests,
  requestsFor,
  sendAndLeave,
} from '../../support/servers/raw-requests.ts';
import { listeningIn } from '../../support/stack/listening.ts';
import { aFolder, killAll, portsOf, runStack } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

/*
 * One `npm start` in a new folder, for everything that only uses it. The last test kills it.
 */
const stack = await forFile(startStack());

/**
 * Runs the demo, which fails unless the payment becomes paid and its signed webhook arrives.
 * @returns its output
 */
const runDemo = async (): Promise<string> => {
  const line = ['run', 'demo', '--', stack.connectionFile];
  return (await promisify(execFile)('npm', line, { env: readStackConfig().inherited })).stdout;
};

/** Opens the console by the link of the banner. */
const logIn = async (banner: string) => {
  const [, port, path = ''] =
    /Console +http:\/\/console\.localhost:(\d+)(\/login\/\S+)/.exec(banner) ?? [];
  const { status, headers } = await call(Number(port), path, { method: 'POST', form: {} });
  expect([status, headers.location]).toEqual([303, '/']);
  const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  const { text } = await call(Number(port), '/', { cookie: `${cookie}; console-mode=test` });
  expect(text).toContain('Payments in 24 hours<strong>1</strong>');
};

it('npm start serves a whole purchase of npm run demo, and its console', async () => {
  const output = await runDemo();
  expect(output).toMatch(/POST http\S+\/api\/v1\/payments\n/);
  expect(output).toMatch(/302 → http\S+\/api\/v1\/sandbox\/PAY_/);
  expect(output).toContain('✓ The payment is paid.');
  expect(output).toMatch(/x-service-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(output).toContain('{"event":"payment.paid"');
  expect(output).toContain('✓ The signature is valid');
  expect(output).not.toContain(stack.facts.token);
  // No colours in a pipe.
  expect(output).not.toContain('\u001B[');
  await logIn(stack.output());
});

it.each([
  ['no file', undefined, /connection\.json cannot be read: is the stack running \(npm start\)\?/],
  ['an incomplete file', {}, /does not describe a running stack; wrong or missing: api_base_url/],
  [
    'the file of a stack that has ended',
    {
      api_base_url: 'http://127.0.0.1:9',
      shop_url: 'http://127.0.0.1:9',
      token: 'svc_test_none',
      webhook_secret: 'whsec_none',
    },
    /POST \/payments got no complete answer from http:\/\/127\.0\.0\.1:9 \(.+\)/,
  ],
])('npm run demo fails with one sentence when there is %s', async (_, content, message) => {
  const connectionFile = join(aFolder(), 'connection.json');
  if (content) writeFileSync(connectionFile, JSON.stringify(content));

  const line = ['run', 'demo', '--', connectionFile];
  const { exited, output } = runCommand(line, readStackConfig().inherited);

  expect(await exited).toBe(1);
  expect(output().trim().split('\n').at(-1)).toMatch(message);
});

describe('the demo shop in a real browser', () => {
  const browser = useBrowser();
  const waitMs = 60_000;

  /** A browser context that collects console errors, and requests to anything but the shop and the API. */
  const aPayer = async (options: Parameters<Browser['newContext']>[0] = {}) => {
    const context = await browser().newContext({
      viewport: { width: 390, height: 844 },
      ...options,
    });
    context.setDefaultTimeout(waitMs);
    const complaints: string[] = [];
    const own = new Set([stack.facts.shop_url, stack.facts.api_base_url]);
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        complaints.push(`${message.page()?.url()}: ${message.text()}`);
    });
    context.on('weberror', (error) => complaints.push(String(error.error())));
    context.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && !own.has(origin)) complaints.push(`requests ${request.url()}`);
    });
    onTestFinished(() => context.close());
    return { context, complaints };
  };

  const buy = async (context: BrowserContext, product: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(stack.facts.shop_url);
    await page.getByRole('button', { name: `Buy ${product}` }).click();
    await page.waitForURL('**/api/v1/sandbox/*');
    return page;
  };

  const openOrders = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${stack.facts.shop_url}/orders`);
    return page;
  };

  const choose = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();

  /** Waits until the page shows this state of its newest order, without a reload. */
  const seeNewest = (orders: Page, state: string) =>
    orders.locator('.orders li').first().locator('.badge', { hasText: state }).waitFor();

  const fitsItsWidth = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth');

  const boxOf = async (orders: Page, part: string) => {
    const box = await orders.locator('.orders li').first().locator(part).boundingBox();
    if (!box) throw new Error(`The newest order shows no ${part}`);
    return box;
  };

  /** Whether the price and the state are beside or below each other, without overlapping. */
  const showsPriceAndState = async (orders: Page) => {
    const [price, badge] = [await boxOf(orders, '.price'), await boxOf(orders, '.badge')];
    return price.x + price.width <= badge.x || price.y + price.height <= badge.y;
  };

  it.each([
    { choice: 'Pay', state: 'Paid', heading: 'Thank you, it is paid' },
    { choice: 'Refuse', state: 'Failed', heading: 'The payment failed' },
    { choice: 'Cancel', state: 'Cancelled', heading: 'You cancelled the payment' },
  ])(
    'shows the order as $state by itself after the choice $choice',
    async ({ choice, state, heading }) => {
      const { context, complaints } = await aPayer();
      const payment = await buy(context, 'Stoneware mug');
      const orders = await openOrders(context);
      await seeNewest(orders, 'Waiting for payment');

      await payment.bringToFront();
      await choose(payment, choice);
      await payment.waitForURL(`${stack.facts.shop_url}/return?**`);
      await payment.getByRole('heading', { name: heading }).waitFor();
      await payment.getByText('Signature verified').waitFor();
      await payment.getByText('x-service-signature', { exact: true }).waitFor();

      await orders.bringToFront();
      await seeNewest(orders, state);
      expect(await fitsItsWidth(payment)).toBe(true);
      expect(await fitsItsWidth(orders)).toBe(true);
      expect(complaints).toEqual([]);
    },
  );

  it('keeps an order waiting whose payer paid and closed the browser', async () => {
    const { context, complaints } = await aPayer();
    const payment = await buy(context, 'Morning beans');
    await choose(payment, 'Pay and close the browser');
    await payment.getByRole('heading', { name: 'The browser is closed' }).waitFor();
    const orders = await openOrders(context);
    await seeNewest(orders, 'Waiting for payment');
    expect(await showsPriceAndState(orders)).toBe(true);
    await orders.setViewportSize({ width: 1280, height: 900 });
    expect(await showsPriceAndState(orders)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('keeps the focus when another order changes', async () => {
    const { context } = await aPayer();
    await buy(context, 'Stoneware mug');
    const orders = await openOrders(context);
    const live = orders.locator('[data-live]');
    const link = orders.locator('.orders li a').first();
    await link.focus();
    const [href, before] = [await link.getAttribute('href'), await live.getAttribute('data-live')];
    const payment = await buy(context, 'Morning beans');
    await orders.bringToFront();
    await orders.locator(`.orders li:nth-child(2) a[href="${href}"]`).waitFor();
    expect(await live.getAttribute('data-live')).not.toBe(before);
    const focused = 'document.activeElement.getAttribute("href")';
    expect(await orders.evaluate(focused)).toBe(href);
    await payment.close();
  });

  it('lets the payer choose among several gateways', async () => {
    const { context, complaints } = await aPayer();
    const shop = await context.newPage();
    const choice = shop.getByRole('combobox', { name: 'Pay for Stoneware mug with' });
    await shop.goto(stack.facts.shop_url);
    expect(await choice.count()).toBe(0);

    const slug = 'bank-of-the-long-name-behind-the-seven-mountains';
    const add = runCommand(
      ['run', 'admin', '--', 'gateways', 'add', slug, '--driver', 'sandbox'],
      stack.env,
    );
    expect(await add.exited, add.output()).toBe(0);
    await shop.reload();
    for (const width of [1280, 390]) {
      await shop.setViewportSize({ width, height: 900 });
      expect(await fitsItsWidth(shop)).toBe(true);
    }
    await choice.selectOption(slug);
    await shop.getByRole('button', { name: 'Buy Stoneware mug' }).click();
    await shop.waitForURL('**/api/v1/sandbox/*');
    await choose(shop, 'Pay');
    await shop.getByRole('heading', { name: 'Thank you, it is paid' }).waitFor();
    const id = new URL(shop.url()).searchParams.get('payment_id');
    const payment = await fetch(`${stack.facts.api_base_url}/api/v1/payments/${id}`, {
      headers: { authorization: `Bearer ${stack.facts.token}` },
    });
    expect(await payment.json()).toMatchObject({ status: 'paid', gateway: slug });

    await shop.goto(stack.facts.shop_url);
    await choice.selectOption(slug);
    const disable = runCommand(['run', 'admin', '--', 'gateways', 'disable', slug], stack.env);
    expect(await disable.exited, disable.output()).toBe(0);
    await shop.getByRole('button', { name: 'Buy Stoneware mug' }).click();
    await shop.getByRole('heading', { name: 'Not now' }).waitFor();
    await shop.getByRole('link', { name: 'Back to the shop' }).click();
    expect(await choice.count()).toBe(0);
    expect(complaints.filter((each) => !each.includes('409'))).toEqual([]);
  });

  it('sells and shows changes without JavaScript', async () => {
    const { context, complaints } = await aPayer({ javaScriptEnabled: false });
    const payment = await buy(context, 'Pour-over set');
    const orders = await openOrders(context);
    await choose(payment, 'Pay');
    await payment.getByText('Signature verified').waitFor();
    await seeNewest(orders, 'Paid');
    expect(complaints).toEqual([]);
  });
});

const root = join(import.meta.dirname, '../../..');
/** A busy machine packs and installs for minutes. */
const limitMs = 300_000;

/** A checkout of its own, in which git would show what the blocks leave behind. */
const aCheckout = (folder: string): string => {
  const checkout = join(folder, 'payments');
  for (const path of projectFiles()) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path));
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: checkout });
  execFileSync('git', ['add', '.'], { cwd: checkout });
  return checkout;
};

/** A terminal in which a reader pastes one block after another. The first command that fails ends it. */
const aTerminal = (cwd: string, env: Record<string, string>) => {
  const child = spawn('bash', ['-e'], { cwd, env, detached: true });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => (output += `${line}\n`));
  onTestFinished(async () => {
    // The group: with what the blocks have started in the background.
    if (child.pid !== undefined) killAll([-child.pid]);
    await ended;
  });
  let pasted = 0;
  const says = (text: string) =>
    until(
      `the terminal says ${text}`,
      () => {
        if (child.exitCode !== null) throw new Error(`The terminal ended:\n${output}`);
        return output.includes(text);
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; its output:\n${output}`, { cause: error });
    });
  return {
    output: () => output,
    says,
    async paste(block: string) {
      pasted += 1;
      child.stdin.write(`${block}\necho "Block ${pasted} has ended."\n`);
      await says(`Block ${pasted} has ended.`);
    },
  };
};

it.for([['this Node', process.execPath] as const, ['Node 20', oldNode] as const])(
  'the blocks of the README lead from npm start to a verified webhook on %s',
  { timeout: 1_200_000 },
  async ([, node], { skip }) => {
    if (node === undefined) return skip(noOldNode);
    const folder = aFolder();
    const checkout = aCheckout(folder);
    const shop = join(folder, 'my-shop');
    const port = await freePort();
    // Other tests may use the ports of the page.
    const here = (code: string) =>
      code
        .replace('http://127.0.0.1:3000', stack.facts.api_base_url)
        .replaceAll('8080', String(port));
    const { paste, says, output } = aTerminal(checkout, {
      ...stack.env,
      PATH: [dirname(node), stack.env['PATH']].join(delimiter),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    });
    const [install, listen, trigger] = blocksOf('From nothing to a verified webhook')
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => here(code));
    const [run, compile] = blocksOf('A first payment')
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code);

    await paste(install ?? '');
    const untracked = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], {
      cwd: checkout,
      encoding: 'utf8',
    });
    expect(untracked).toBe('');
    expect(readFileSync(join(shop, 'test-token'), 'utf8')).toMatch(/^svc_test_\w+\n$/);

    writeFileSync(join(shop, 'receiver.js'), here(programs['receiver.js']));
    await paste(listen ?? '');
    await says('Ready');
    await paste(trigger ?? '');
    await says('Verified: payment.paid of trigger-');

    writeFileSync(join(shop, 'first-payment.ts'), programs['first-payment.ts']);
    const readsTypes = node === process.execPath;
    await paste((run ?? '').replace(/^node .*$/m, readsTypes ? '$&' : ''));
    // The packages that the page names, which a registry would bring.
    for (const name of ['typescript', '@types'])
      symlinkSync(join(root, 'node_modules', name), join(shop, 'node_modules', name));
    symlinkSync('../typescript/bin/tsc', join(shop, 'node_modules/.bin/tsc'));
    await paste(compile ?? '');
    const checkouts = output().match(/^http:\S+\/checkout$/gm);
    // The same idempotency key, and so the same payment.
    expect(new Set(checkouts).size).toBe(1);
    expect(checkouts).toHaveLength(readsTypes ? 2 : 1);
  },
);

/** Sends the request of the banner's `curl`. */
const create = async (banner: string): Promise<string> => {
  const [, url = '', flags = '', body = ''] =
    /curl -X POST (\S+)([^]*?) -d '([^']*)'/.exec(banner) ?? [];
  const headers = [...flags.matchAll(/-H '([^:]*): ([^']*)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  );
  const response = await fetch(url, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  return ((await response.json()) as { payment_id: string }).payment_id;
};

const readStatus = async ({ api_base_url, token }: ConnectionFile, id: string) => {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${api_base_url}/api/v1/payments/${id}`, { headers });
  return ((await response.json()) as { status: string }).status;
};

/** Pages of all processes, files and requests that wait for something. Each port has some of them. */
const pathsOf = async (connection: ConnectionFile, id: string): Promise<string[]> => {
  const history = `/api/v1/namespaces/${connection.temporal_namespace}/workflows/${id}/history`;
  const first = await fetch(`${connection.temporal_ui_url}${history}?waitNewEvent=true`);
  const { nextPageToken } = (await first.json()) as { nextPageToken: string };
  return [
    `${history}?waitNewEvent=true&nextPageToken=${encodeURIComponent(nextPageToken)}`,
    ...['/', '/events', '/orders', '/payments', '/payments/file', '/accounts/file', '/metrics'],
    ...['/readyz', '/api/v1/docs', '/api/v1/openapi.json', '/api/v1/payments?per_page=100'],
    ...['/api/v1/events?order=asc', `/api/v1/payments/${id}/checkout`],
    ...['/api/v1/namespaces', `/api/v1/namespaces/${connection.temporal_namespace}/workflows`],
  ];
};

/** 200 and more to one port, some at once. A client leaves at many moments, and without a word half of the time. */
const strain = async (address: Address, paths: string[], token: string) => {
  const host = `${address.host}:${address.port}`;
  const requests = [
    ...requestsFor(host, paths, { Authorization: `Bearer ${token}` }),
    ...oddRequests(host),
  ];
  const all = [0, 15, 60].flatMap((after) => requests.map((bytes) => ({ after, bytes })));
  for (let start = 0; start < all.length; start += 20)
    await Promise.all(
      all
        .slice(start, start + 20)
        .map(({ after, bytes }, index) =>
          sendAndLeave(address, bytes, { after, reset: index % 2 === 0 }),
        ),
    );
  return all.length;
};

/** Nothing says sooner that a port which speaks no HTTP will not answer; the others close the connection themselves. */
const askAs = (address: Address, name: string) => {
  const path = '/api/v1/namespaces/default/workflows';
  const [bytes = ''] = requestsFor(name, [path], { Connection: 'close' });
  return sendAndLeave(address, bytes, { after: 5_000, reset: false });
};

/** Only Linux says which ports they are. */
const isKnowable = process.platform === 'linux';

/** Sends broken and abandoned requests to each port, and asks each for workflows under another name. */
const outlive = async () => {
  const connection = stack.facts;
  const processes = stack.survivors();
  const ports = listeningIn([connection.pid, ...processes]);
  const known = Object.values(portsOf(connection)).map(Number);
  expect(ports.map(({ port }) => port)).toEqual(expect.arrayContaining(known));
  const id = await create(stack.output());
  const paths = await pathsOf(connection, id);

  const sent = await Promise.all(ports.map((port) => strain(port, paths, connection.token)));
  expect(Math.min(...sent)).toBeGreaterThan(200);

  expect(stack.errors()).toBe('');
  expect(stack.survivors()).toEqual(processes);

  const door = new URL(connection.temporal_ui_url ?? '').host;
  const isDoor = ({ host, port }: Address) => `${host}:${port}` === door;
  // The UI itself is at one of 16 million addresses, where no page finds it.
  const others = ports.filter((each) => each.host === '127.0.0.1' && !isDoor(each));
  const answers = others.flatMap((address) =>
    ['evil.example', `127.0.0.1:${address.port}`].map((name) => askAs(address, name)),
  );
  for (const answer of await Promise.all(answers)) expect(answer).not.toContain(id);
  expect(await askAs(ports.find(isDoor)!, 'evil.example')).not.toContain(id);
  expect(await askAs(ports.find(isDoor)!, door)).toContain(id);
};

it('npm start goes on after broken requests to each of its ports, and after a kill -9 of everything', async () => {
  const connection = stack.facts;
  if (isKnowable) await outlive();
  const id = await create(stack.output());
  killAll([connection.pid, ...stack.survivors()]);
  await stack.exited;

  const second = runStack({
    dataDir: stack.dataDir,
    entry: 'stack/main.ts',
    env: portsOf(connection),
  });
  // Nobody else uses the port of the mailbox, so it is another one each time.
  const again = await second.ready();
  expect(again).toEqual({ ...connection, pid: second.pid, smtp_port: again.smtp_port });
  expect(await readStatus(connection, id)).toBe('pending');
  // The shop reads its old orders from the service.
  const orders = async () => (await fetch(`${connection.shop_url}/orders`)).text();
  await until('the shop shows its old orders', async () => (await orders()).includes('Paid'));
  await runDemo();

  const stoppedAt = Date.now();
  process.kill(second.pid, 'SIGINT');
  expect(await second.exited).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(60_000);
  expect(second.survivors()).toEqual([]);
});
