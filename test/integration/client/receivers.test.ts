import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { sign } from '../../../client/src/webhooks.ts';
import type { EventKind } from '../../../contract/event.ts';
import { freePort } from '../../../stack/ports.ts';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { post as sendWebhook } from '../../../webhooks/request.ts';
import { createHeaders } from '../../../webhooks/signature.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { orderTransitions, type Transition } from '../../support/client/order-transitions.ts';
import { usePageReceivers } from '../../support/client/page-receivers.ts';
import {
  postTo,
  runReceiver,
  runRecipe,
  type StartedReceiver,
  writePrograms,
} from '../../support/client/receivers.ts';
import { aPayment } from '../../support/data/payments.ts';
import { withOutcome } from '../../support/data/records.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { until } from '../../support/until.ts';

/*
 * Every receiver that the project publishes: those of the client's README on both Nodes, those of docs/first-payment.md
 * and its shops, and the demo shop.
 */

const secret = `whsec_${'k'.repeat(43)}`;
const body = Buffer.from(JSON.stringify({ ...eventExamples.paid, metadata: { note: 'grüße' } }));
const maxBytes = 64 * 1024;
const megabyte = 1024 * 1024;

const { folder, application } = await packAndInstall();
writePrograms(application);
const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: 10_000 });
afterAll(() => dispatcher.destroy());

const root = join(import.meta.dirname, '../../..');

const demoShop = async () => {
  const port = await freePort();
  const connection = {
    // The port is closed: the shop goes on without the events that it missed.
    api_base_url: 'http://127.0.0.1:9',
    token: `svc_test_${'x'.repeat(43)}`,
    webhook_secret: secret,
    shop_url: `http://127.0.0.1:${port}`,
  };
  const file = join(folder, 'connection.json');
  writeFileSync(file, JSON.stringify(connection));
  return runReceiver(process.execPath, [join(root, 'demo/shop.ts'), file], { port });
};

const recipes = ['receiver.js', 'express.ts', 'koa.ts', 'next.ts', 'hono.ts'].flatMap((name) =>
  [
    { on: 'README', node: process.execPath },
    { on: 'README on Node 20', node: oldNode },
  ].map(({ on, node }) => ({
    receiver: `${name} of the ${on}`,
    source: 'README',
    readsItself: true,
    find: async () =>
      node === undefined ? undefined : () => runRecipe(application, { name, node, secret }),
  })),
);
const published = [
  ...recipes,
  ...usePageReceivers(application).map((each) => ({ ...each, source: 'page' })),
  { receiver: 'the demo shop', source: 'demo', readsItself: true, find: async () => demoShop },
];

const anEvent = () => {
  const { event } = withOutcome(aPayment({ metadata: '{"note":"grüße 😀"}' }), 'paid');
  return { ...event, body: Buffer.from(event.body) };
};

describe.each(published)('$receiver', ({ find, readsItself, source }) => {
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

  it.runIf(source === 'README')('handles an event that is signed, and no forged one', async () => {
    const [forged, signed] = ['forged', 'signed'].map((order) =>
      Buffer.from(JSON.stringify({ ...eventExamples.paid, order_id: order })),
    ) as [Buffer, Buffer];
    const wrong = await sign({ body: forged, secret: `${secret}x` });
    expect(await post({ body: forged, signature: wrong })).toBe(400);
    expect(await post({ body: signed, signature: await sign({ body: signed, secret }) })).toBe(204);
    const output = () => receiver?.output();
    await until('it is handled', () => output()?.includes('Verified: payment.paid of signed'));
    expect(output()?.match(/of (?:signed|forged)/g)).toEqual(['of signed']);
  });

  if (source !== 'page') return;

  const send = async (
    event: { id: string; kind: EventKind; body: Buffer },
    { to = receiver, key = secret } = {},
  ) => {
    const headers = createHeaders({
      event,
      attempt: 1,
      secrets: [key],
      traceparent: null,
      now: new Date(),
    });
    const signal = new AbortController().signal;
    const url = to?.url ?? '';
    return (await sendWebhook({ url, headers, body: event.body, dispatcher, signal }))
      .responseStatus;
  };
  const linesWith = (text: string) =>
    (receiver?.output().split('\n') ?? []).filter((line) => line.includes(text));
  const paymentOf = (event: { body: Buffer }) =>
    (JSON.parse(event.body.toString()) as { payment_id: string }).payment_id;

  it.each([undefined, '', 's'.repeat(43)])('takes nothing with the secret %j', async (held) => {
    const started = await start()!(held).catch(({ message }: Error) => message);
    // It does not start, or it accepts nothing.
    if (typeof started === 'string')
      return expect(started).toMatch(/holds no whsec_… secret|no such file/i);
    try {
      expect(await send(anEvent(), { to: started, key: held ?? '' })).toBe(500);
      await until('it says why', () => started.output().includes('holds no whsec_… secret'));
    } finally {
      await started.stop();
    }
  });

  it('says what may be wrong with a body that was parsed and written again', async () => {
    const signature = await sign({ body, secret });
    const written = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
    expect(await post({ body: written, signature })).toBe(400);
    await until('it says so', () => linesWith('parsed and written again').length > 0);
  });

  it('accepts what the service sends, and acts once on an event that comes twice', async () => {
    const event = anEvent();
    const last = anEvent();
    for (const each of [event, event, last]) expect(await send(each)).toBe(204);
    await until('all are handled', () => linesWith(paymentOf(last)).length > 0);
    const id = paymentOf(event);
    expect(linesWith(id)).toEqual([`payment.paid ${id} for order order-1`]);
  });

  it('makes of each order what the table says, and of none that it does not have', async () => {
    const sendJson = (json: Transition['event']) =>
      send({ id: json.event_id, kind: json.event, body: Buffer.from(JSON.stringify(json)) });
    const unknown = { ...eventExamples.paid, event_id: randomUUID(), order_id: 'order-of-nobody' };
    for (const event of [unknown, ...orderTransitions.map((each) => each.event)])
      expect(await sendJson(event)).toBe(204);
    const last = anEvent();
    expect(await send(last)).toBe(204);
    await until('all are handled', () => linesWith(paymentOf(last)).length > 0);
    const lines = linesWith('Order ').map((line) => line.split(' '));
    const after = new Map(lines.map(([, id = '', , status = '']) => [id, status]));
    const seen = orderTransitions.map(({ what, order: { id, status } }) => {
      const becomes = after.get(id) ?? status;
      after.delete(id);
      return { what, becomes };
    });
    expect(seen).toEqual(orderTransitions.map(({ what, becomes }) => ({ what, becomes })));
    expect([...after.keys()]).toEqual([]);
    const losers = orderTransitions.filter(
      (each) => each.event['failure_code'] === 'order_already_paid',
    );
    expect(linesWith('this money goes back')).toHaveLength(losers.length);
  });

  it('answers 500 to an event that it cannot handle, and goes on', async () => {
    expect(await send({ ...anEvent(), body: Buffer.from('{"event":') })).toBe(500);
    const event = anEvent();
    const { event_id } = JSON.parse(event.body.toString()) as { event_id: string };
    const status = await send({ ...event, body: Buffer.from(JSON.stringify({ event_id })) });
    expect(await send(event)).toBe(204);
    // The service sends a refused event again, and the receiver handles it then.
    await until('it is handled', () => status !== 500 || linesWith(paymentOf(event)).length > 0);
  });
});
