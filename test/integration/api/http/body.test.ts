import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { AnyRequest, Route } from '../../../../api/http/route.ts';
import { routes } from '../../../../api/routes.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import { toPlainValue } from '../../../../contract/json.ts';
import { serve, type Handle } from '../../../support/servers/http-application.ts';
import { rawConnection, rawRequest, type RawRequest } from '../../../support/servers/raw-http.ts';
import { refusalOf } from '../../../support/service/answers.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
const authorization = `Bearer ${(await service.anApplication()).token}`;

const order = { order_id: 'o-1', amount: 1250, currency: 'EUR' };
const text = JSON.stringify(order);
const json = { 'content-type': 'application/json' };

const send = ({ headers = json, ...request }: RawRequest) =>
  rawRequest(`${service.url}/api/v1/payments`, {
    ...request,
    headers: { authorization, ...headers },
  });

/** `order` with one field whose value is `written` literally. */
const withField = (name: string, written: string) =>
  `{${Object.entries({ ...order, [name]: undefined })
    .map(([key, value]) => `"${key}":${key === name ? written : JSON.stringify(value)}`)
    .join()}}`;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const padded = (length: number) => text + ' '.repeat(length - text.length);

describe('a request body', () => {
  it.each<[string, RawRequest]>([
    ['as JSON', { headers: json }],
    ['with a charset', { headers: { 'content-type': 'application/json; charset=UTF-8' } }],
    ['with a quoted charset', { headers: { 'content-type': 'Application/JSON;charset="utf-8"' } }],
    ...['utf8', "'utf-8'", 'unicode-1-1-utf-8', 'us-ascii', ''].map(
      (name): [string, RawRequest] => [
        `with the charset ${name}`,
        { headers: { 'content-type': `application/json; charset=${name}` } },
      ],
    ),
    ...['identity', 'Identity', ''].map((name): [string, RawRequest] => [
      `with the encoding ${name}`,
      { headers: { ...json, 'content-encoding': name } },
    ]),
    ['with a BOM', { body: bytes([0xef, 0xbb, 0xbf], text) }],
    ['with an empty list as its metadata', { body: withField('metadata', '[]') }],
    ...['description', 'callback_url', 'gateway', 'metadata', 'expires_in', 'sandbox'].map(
      (name): [string, RawRequest] => [`with null as ${name}`, { body: withField(name, 'null') }],
    ),
    ['in pieces', { body: [text.slice(0, 9), text.slice(9)] }],
    ['of exactly 64 KB', { body: padded(65_536) }],
    [
      'of exactly 64 KB in pieces',
      { body: [padded(65_536).slice(0, 99), padded(65_536).slice(99)] },
    ],
  ])('accepts a request body %s', async (_, request) => {
    const answer = await send({ body: text, ...request });
    expect(answer.status, answer.text).toBe(201);
  });

  it.each<[string, string, RawRequest]>([
    ['without a content type', 'UNSUPPORTED_MEDIA_TYPE', { headers: {} }],
    ...[
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/problem+json',
      'application/json; charset=utf-16',
      'application/json; charset=latin1',
      'application/jsonx',
      ';',
    ].map((type): [string, string, RawRequest] => [
      `as ${type}`,
      'UNSUPPORTED_MEDIA_TYPE',
      { headers: { 'content-type': type } },
    ]),
    ...['gzip', 'br', 'deflate', 'zstd', 'nonsense'].map((name): [string, string, RawRequest] => [
      `encoded as ${name}`,
      'UNSUPPORTED_MEDIA_TYPE',
      { headers: { ...json, 'content-encoding': name }, body: gzipSync(text) },
    ]),
    [
      'transferred as gzip',
      'UNSUPPORTED_MEDIA_TYPE',
      { headers: { ...json, 'transfer-encoding': 'gzip, chunked' }, body: gzipSync(text) },
    ],
    ['that is empty', 'MALFORMED_JSON', { body: '' }],
    ['that is cut', 'MALFORMED_JSON', { body: text.slice(0, -1) }],
    ['with a BOM in UTF-16', 'MALFORMED_JSON', { body: bytes([0xff, 0xfe], text) }],
    [
      'with two BOMs',
      'MALFORMED_JSON',
      { body: bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], text) },
    ],
    ['in UTF-16', 'MALFORMED_JSON', { body: Buffer.from(text, 'utf16le') }],
    ['of invalid UTF-8', 'MALFORMED_JSON', { body: bytes('{"order_id":"', [0xff, 0xfe], '"}') }],
    ['of overlong UTF-8', 'MALFORMED_JSON', { body: bytes('{"order_id":"', [0xc0, 0xaf], '"}') }],
    ['33 levels deep', 'MALFORMED_JSON', { body: nested(33) }],
    ['30,000 levels deep', 'MALFORMED_JSON', { body: nested(30_000) }],
    ['over 64 KB', 'PAYLOAD_TOO_LARGE', { body: padded(65_537) }],
    ['over 64 KB in pieces', 'PAYLOAD_TOO_LARGE', { body: [padded(65_536), ' '] }],
    ['of 1 MB', 'PAYLOAD_TOO_LARGE', { body: padded(1_000_000) }],
    ['of 1 MB in pieces', 'PAYLOAD_TOO_LARGE', { body: Array(100).fill(padded(10_000)) }],
    ...['1.0', '1e3', '1E3', '-0', '-1', '0', '1000000000000', '9007199254740993', '1e400']
      .concat('"1"', 'null', 'true', '[1]', '{}', `1${'0'.repeat(60_000)}`)
      .map((written): [string, string, RawRequest] => [
        `with the amount ${written.slice(0, 20)}`,
        'VALIDATION_FAILED',
        { body: withField('amount', written) },
      ]),
    ...['1800.0', '18e2', '59', '86401'].map((written): [string, string, RawRequest] => [
      `with the lifetime ${written}`,
      'VALIDATION_FAILED',
      { body: withField('expires_in', written) },
    ]),
  ])('rejects a request body %s as %s', async (_, code, request) => {
    const status = { UNSUPPORTED_MEDIA_TYPE: 415, MALFORMED_JSON: 400, PAYLOAD_TOO_LARGE: 413 };
    const expected = status[code as keyof typeof status] ?? 422;
    expect(refusalOf(await send({ body: text, ...request }))).toEqual([expected, code]);
  });

  const withBody = Object.values<Route>(routes)
    .filter(({ body }) => body && 'json' in body)
    .map(({ path }) => path);
  it.each(withBody)('is read the same way by every route: %s', async (path) => {
    for (const [status, body] of [
      [400, '{'],
      [413, padded(65_537)],
      [415, gzipSync(text)],
    ] as const) {
      const encoding = status === 415 ? { 'content-encoding': 'gzip' } : {};
      const key = { 'idempotency-key': 'key-1' };
      const headers = { authorization, ...json, ...encoding, ...key };
      const answer = await rawRequest(`${service.url}${path}`, { headers, body });
      expect(answer.status, answer.text).toBe(status);
    }
  });

  it('a request body that is too large does not make the next request on its connection hang', async () => {
    const headers = { authorization, ...json };
    const url = `${service.url}/api/v1/payments`;
    for (let round = 0; round < 3; round += 1) {
      const tooLarge = await fetch(url, { method: 'POST', headers, body: padded(200_000) });
      expect(tooLarge.status).toBe(413);
      await tooLarge.text();
      const valid = await fetch(url, { method: 'POST', headers, body: text });
      expect(valid.status, await valid.text()).toBe(201);
    }
  });
});

it('concurrent bodies are read as they were sent, also when a handler reads one twice', async () => {
  const readTwice = async ({ readJson }: AnyRequest) =>
    (await Promise.all([readJson(), readJson()])).map(toPlainValue);
  const { url } = await serve({
    createPayment: async (request) => {
      const sent = request.header('idempotency-key') ?? '';
      const [first, second] = await readTwice(request);
      const isIntact = first === second && first === `${sent} `.repeat(5_000);
      return { status: isIntact ? 201 : 422 };
    },
  });
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async (_, nth) => {
      const key = `key-${nth}`;
      const headers = { ...json, 'idempotency-key': key };
      const body = JSON.stringify(`${key} `.repeat(5_000));
      return (await fetch(`${url}/api/v1/payments`, { method: 'POST', headers, body })).status;
    }),
  );
  expect(statuses).toEqual(Array(10).fill(201));
});

describe('the memory of bodies', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const usedMb = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / (1 << 20);
  };

  /** Sends each text on a connection of its own. @returns their growth in MB: less than `mostMb`, or that after 5 s */
  const growthAfter = async (
    { url, server }: Awaited<ReturnType<typeof serve>>,
    texts: string[],
    mostMb: number,
    isReceived: (received: Socket[]) => boolean,
  ) => {
    // On a busy machine so many pieces take longer than a request may, and the test is about memory.
    server.requestTimeout = 0;
    const received: Socket[] = [];
    server.on('connection', (socket) => received.push(socket));
    const connections = [];
    for (let nth = 0; nth < texts.length; nth += 1) connections.push(await rawConnection(url));
    const before = usedMb();
    for (const [nth, { socket }] of connections.entries()) socket.write(texts[nth] ?? '');
    await until('everything is received', () => isReceived(received), 240_000);
    // Buffers are freed some time after a collection.
    const endsAt = performance.now() + 5_000;
    let growth = usedMb() - before;
    while (growth >= mostMb && performance.now() < endsAt) {
      await sleep(200);
      growth = usedMb() - before;
    }
    for (const { socket } of connections) socket.destroy();
    return growth;
  };
  const bytesRead = (received: Socket[]) =>
    received.reduce((sum, socket) => sum + socket.bytesRead, 0);

  const path = '/api/v1/gateways/x/notifications';
  const never: Handle = () => new Promise(() => {});
  it.each<[string, string, Handle]>([
    ['read', `POST ${path}`, ({ readBytes }) => readBytes().then(() => ({ status: 200 }))],
    ['not read', `POST ${path}`, never],
    ['of a route without a body', 'GET /api/v1/me', never],
  ])('is small for 10 bodies in 65,000 pieces of one byte that are %s', async (_, line, handle) => {
    const application = await serve({ notifyOfPayment: handle, getApplication: handle });
    const head = `${line} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
    const texts = Array<string>(10).fill(head + '1\r\n \r\n'.repeat(65_000));
    const sent = texts.join('').length;
    const isReceived = (received: Socket[]) => bytesRead(received) === sent;
    expect(await growthAfter(application, texts, 10, isReceived)).toBeLessThan(10);
  });

  it('is free after the response, even if the rest of the body never arrives', async () => {
    const application = await serve(
      {},
      { authenticate: () => Promise.reject(new PaymentError('INVALID_TOKEN')), requestsMax: 1_000 },
    );
    const head = 'POST /api/v1/payments HTTP/1.1\r\nhost: x\r\ncontent-length: 65536\r\n\r\n';
    const texts = Array<string>(400).fill(head + ' '.repeat(65_000));
    const sent = texts.join('').length;
    // The bodies have 26 MB.
    const growth = await growthAfter(
      application,
      texts,
      8,
      (received) =>
        bytesRead(received) === sent && received.every(({ bytesWritten }) => bytesWritten > 0),
    );
    expect(growth).toBeLessThan(8);
  });
});
