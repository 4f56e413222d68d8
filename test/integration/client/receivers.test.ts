import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { sign } from '../../../client/src/webhooks.ts';
import { freePort } from '../../../stack/ports.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { usePageReceivers } from '../../support/client/page-receivers.ts';
import {
  postTo,
  runReceiver,
  runRecipe,
  type StartedReceiver,
  writePrograms,
} from '../../support/client/receivers.ts';
import { useProgram } from '../../support/runner/use-program.ts';

/*
 * Every receiver that the project publishes: those of the client's README on both Nodes, those of docs/webhooks.md, and
 * the demo shop.
 */

const secret = `whsec_${'k'.repeat(43)}`;
const body = Buffer.from(JSON.stringify({ ...eventExamples.paid, metadata: { note: 'grüße' } }));
const maxBytes = 64 * 1024;
const megabyte = 1024 * 1024;

const { application } = packAndInstall();
writePrograms(application);
const folder = mkdtempSync(join(tmpdir(), 'payments-receivers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const root = join(import.meta.dirname, '../../..');

const demoShop = async () => {
  const port = await freePort();
  const connection = {
    // Nothing listens there: the shop goes on without the events that it missed.
    api_base_url: 'http://127.0.0.1:9',
    token: `svc_test_${'x'.repeat(43)}`,
    webhook_secret: secret,
    shop_url: `http://127.0.0.1:${port}`,
  };
  const file = join(folder, 'connection.json');
  writeFileSync(file, JSON.stringify(connection));
  return runReceiver(process.execPath, [join(root, 'demo/shop.ts'), file], { port });
};

const recipes = ['receiver.js', 'express.ts', 'koa.ts', 'next.ts', 'hono.ts'];
const published = [
  ...recipes.map((name) => ({
    receiver: `${name} of the README`,
    readsItself: true,
    find: async () => () => runRecipe(application, { name, node: process.execPath, secret }),
  })),
  ...recipes.map((name) => ({
    receiver: `${name} of the README on Node 20`,
    readsItself: true,
    find: async () => {
      const node = oldNode;
      return node === undefined ? undefined : () => runRecipe(application, { name, node, secret });
    },
  })),
  ...usePageReceivers(),
  { receiver: 'the demo shop', readsItself: true, find: async () => demoShop },
];

describe.each(published)('$receiver', ({ find, readsItself }) => {
  const start = useProgram(find);
  let receiver: StartedReceiver | undefined;
  beforeAll(async () => {
    receiver = await start()?.(secret);
  });
  afterAll(() => receiver?.stop());
  beforeEach(({ skip }) => skip(!receiver, noOldNode));

  const post = (sent: Partial<Parameters<typeof postTo>[1]>) =>
    postTo(receiver?.url ?? '', { body, ...sent });

  // In front of PHP a web server reads the whole body, and limits it.
  const reading = readsItself ? ['itself'] : [];

  it('accepts an event with a length, and one in chunks', async () => {
    const signature = await sign({ body, secret });
    expect(await post({ signature })).toBe(204);
    expect(await post({ signature, inChunks: true })).toBe(204);
  });

  it('accepts a header whose commas have spaces, and every v1 of a rotation', async () => {
    const other = `whsec_${'o'.repeat(43)}`;
    for (const secrets of [
      [secret, other],
      [other, secret],
    ])
      for (const comma of [',', ', ']) {
        const signature = await sign({ body, secret: secrets });
        expect(await post({ signature: signature.replaceAll(',', comma) })).toBe(204);
      }
  });

  it('takes what was signed up to 300 s away, and refuses the rest, to both sides', async () => {
    const statuses: number[] = [];
    for (const ahead of [-310, -290, 290, 310]) {
      const timestamp = Math.floor(Date.now() / 1000) + ahead;
      statuses.push(await post({ signature: await sign({ body, secret, timestamp }) }));
    }
    expect(statuses).toEqual([400, 204, 204, 400]);
  });

  it('accepts 64 KB, and answers 413 to one byte more, whatever is announced', async () => {
    // White space before JSON is part of no value.
    const longest = Buffer.concat([Buffer.alloc(maxBytes - body.length, ' '), body]);
    const longer = Buffer.concat([Buffer.from(' '), longest]);
    for (const inChunks of [false, true]) {
      const fits = await sign({ body: longest, secret });
      expect(await post({ body: longest, signature: fits, inChunks })).toBe(204);
      const signature = await sign({ body: longer, secret });
      expect(await post({ body: longer, signature, inChunks })).toBe(413);
      expect(await post({ body: longer, inChunks })).toBe(413);
    }
  });

  it.each(reading)('answers 413 before a long body ends', async () => {
    const longer = Buffer.alloc(maxBytes + 1, ' ');
    const signature = 't=1,v1=00';
    expect(await post({ body: longer, signature, inChunks: true, ends: false })).toBe(413);
  });

  it('answers 400 to everything that is not signed', async () => {
    const genuine = await sign({ body, secret });
    const forged = [
      { signature: undefined },
      { signature: 'nonsense' },
      { signature: genuine.replace(/,v1=.*/, '') },
      { signature: genuine.replace(/t=\d+,/, '') },
      { signature: `${genuine.split('v1=')[0]}v1=` },
      { signature: `${genuine.split('v1=')[0]}v1=${'ü'.repeat(64)}` },
      { signature: await sign({ body, secret: `whsec_${'o'.repeat(43)}` }) },
      { body: Buffer.from(`${body.toString()} `), signature: genuine },
      { signature: await sign({ body, secret: `${secret}x` }) },
      { signature: await sign({ body, secret, timestamp: 1 }) },
      { signature: await sign({ body, secret, timestamp: Date.now() }) },
      { body: Buffer.alloc(0), signature: genuine },
    ];
    for (const each of forged)
      for (const inChunks of [false, true])
        expect([each.signature, await post({ ...each, inChunks })]).toEqual([each.signature, 400]);
    // Anybody can send such posts: a stack for each fills the log.
    expect(receiver?.output()).not.toMatch(/^\s+at /m);
  });

  it.each(reading)('answers 413 to 150 MB, holds none of them, and goes on', async () => {
    const before = receiver?.peak() ?? 0;
    const piece = Buffer.alloc(megabyte, 'a');
    const signature = await sign({ body: piece, secret });
    const statuses = await Promise.all(
      [false, true].map((inChunks) => post({ body: piece, times: 150, signature, inChunks })),
    );
    expect(statuses).toEqual([413, 413]);
    expect((receiver?.peak() ?? 0) - before).toBeLessThan(150 * megabyte);
    expect(await post({ signature: await sign({ body, secret }) })).toBe(204);
  });
});
