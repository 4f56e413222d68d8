import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { attemptDeadlineMs } from '../../../webhooks/request.ts';
import { attempt } from '../../support/service/send-webhook.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { until } from '../../support/until.ts';
import { listenForTest, listenOnLoopback } from '../../support/servers/listen.ts';

const run = promisify(execFile);
const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: attemptDeadlineMs });
afterAll(() => dispatcher.destroy());

const send = (url: string) => attempt(url, { dispatcher });

const responding = (text: string) => (socket: Socket) => void socket.write(text);

describe('a receiver with TLS', () => {
  const startSelfSigned = async () => {
    const requests: string[] = [];
    const names: unknown[] = [];
    const server = createTlsServer(selfSigned, (socket) => {
      names.push(socket.servername);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        requests.push(chunk.toString());
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    server.on('tlsClientError', () => {});
    const port = await listenOnLoopback(server);
    return {
      port,
      requests,
      names,
      async [Symbol.asyncDispose]() {
        server.close();
        await once(server, 'close');
      },
    };
  };

  it('fails with tls when its certificate is self-signed', async () => {
    await using server = await startSelfSigned();
    for (const host of ['127.0.0.1', 'localhost']) {
      const result = await send(`https://${host}:${server.port}/`);
      expect(result).toMatchObject({
        errorClass: 'tls',
        error: 'The certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
      });
    }
    expect(server.requests).toEqual([]);
  });

  it('is accepted with a certificate that NODE_EXTRA_CA_CERTS trusts, by its name and over HTTP/1.1', async () => {
    await using server = await startSelfSigned();
    const { stdout } = await run(
      process.execPath,
      [
        join(import.meta.dirname, '../../fakes/webhooks/post-once.ts'),
        `https://localhost:${server.port}/`,
      ],
      { env: { NODE_EXTRA_CA_CERTS: selfSigned.certFile } },
    );
    expect(JSON.parse(stdout)).toMatchObject({ responseStatus: 204, errorClass: null });
    expect(server.requests[0]).toMatch(/^POST \/ HTTP\/1\.1\r\n/);
    expect(server.names).toEqual(['localhost']);
  });

  it('fails with a timeout when it does not finish the handshake', async () => {
    await using mute = await startRawServer(() => {});
    const impatient = createWebhookDispatcher({ allowLoopback: true, timeoutMs: 200 });
    const result = await attempt(mute.url.replace('http:', 'https:'), { dispatcher: impatient });
    const error = 'The connection was not made in time';
    expect(result).toMatchObject({ errorClass: 'timeout', error });
    await until('the connection is closed', () => mute.open() === 0);
    await impatient.destroy();
  });

  it('fails with tls when it speaks plain HTTP', async () => {
    const port = await startPlainServer();
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ errorClass: 'tls' });
  });
});

/** Answers the first bytes with plain HTTP. */
const startPlainServer = async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  return listenForTest(server);
};

it('uses no proxy of the environment', async () => {
  await using server = await startRawServer(responding('HTTP/1.1 204 No Content\r\n\r\n'));
  await using proxy = await startRawServer(responding('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  const proxyUrl = new URL(proxy.url).origin;
  const { stdout } = await run(
    process.execPath,
    [join(import.meta.dirname, '../../fakes/webhooks/post-once.ts'), server.url],
    {
      env: {
        HTTP_PROXY: proxyUrl,
        HTTPS_PROXY: proxyUrl,
        ALL_PROXY: proxyUrl,
        http_proxy: proxyUrl,
        https_proxy: proxyUrl,
        NODE_USE_ENV_PROXY: '1',
      },
    },
  );
  expect(JSON.parse(stdout)).toMatchObject({ responseStatus: 204 });
  expect(proxy.most()).toBe(0);
});
