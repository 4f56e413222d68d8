import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import {
  createServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { parseResponse, type Call, type TlsSettings } from '../../../gateways/call.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import {
  beginTry,
  createGatewayDispatchers,
  gatewayLimits,
  type HttpOptions,
} from '../../../gateways/http.ts';
import { createLookup } from '../../../webhooks/dns.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { listenForTest } from '../../support/servers/listen.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';

const createDispatchers = (...options: Parameters<typeof createGatewayDispatchers>) => {
  const dispatchers = createGatewayDispatchers(...options);
  onTestFinished(() => dispatchers.destroy());
  return dispatchers;
};

const call = (
  { dispatcherOf }: Pick<HttpOptions, 'dispatcherOf'>,
  baseUrl: string,
  { tls, method = 'GET', ...limits }: CallOptions = {},
) => {
  const target = { provider: 'somebody', baseUrl, override: undefined, ...(tls && { tls }) };
  const callGateway = beginTry({ dispatcherOf, allowLoopback: true, ...limits })(target);
  return callGateway({ operation: 'status', method, path: '/' });
};
interface CallOptions extends Pick<HttpOptions, 'callMs' | 'tryMs'> {
  tls?: TlsSettings;
  method?: Call['method'];
}

it('allows 3 s for a connection, 10 s for a call and 20 s for all calls of a try', () => {
  expect(gatewayLimits).toEqual({ connectMs: 3_000, callMs: 10_000, tryMs: 20_000 });
});

it('gives up a host that accepts connections and stays silent', async () => {
  const sockets = new Set<Socket>();
  const port = await listenForTest(createTcpServer((socket) => sockets.add(socket)));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  // It takes the documented 3 s of a connection, by the clock: undici has timers of its own.
  const patient = { callMs: 60_000, tryMs: 60_000 };
  // It gives up after 10 s. undici counts the turns of one timer for all, also when the machine stands still.
  const usual = new Agent();
  onTestFinished(() => usual.destroy());
  let isUsualOver = false;
  void request(`https://127.0.0.1:${port}`, { dispatcher: usual })
    .catch(() => {})
    .then(() => (isUsualOver = true));
  await expect(call(createDispatchers(), `https://127.0.0.1:${port}`, patient)).rejects.toThrow(
    'UND_ERR_CONNECT_TIMEOUT',
  );
  expect(isUsualOver).toBe(false);
});

it('throws GatewayUnavailable for a response that is not HTTP', async () => {
  await using server = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const error = await call(createDispatchers(), new URL(server.url).origin).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GatewayUnavailable);
  expect(error).toMatchObject({ message: 'somebody, status: the response is not HTTP' });
});

it('offers HTTP/1.1 only, so that calls do not share a connection', async () => {
  let offered: string[] = [];
  const server = createServer({
    ALPNCallback({ protocols }) {
      offered = protocols;
      return undefined;
    },
  });
  const port = await listenForTest(server);
  await expect(call(createDispatchers(), `https://127.0.0.1:${port}`)).rejects.toThrow(
    GatewayUnavailable,
  );
  expect(offered).toEqual(['http/1.1']);
});

it('delays no call by the hanging lookup of another host', async () => {
  const port = await listenForTest(createHttpServer((_req, res) => res.end('{"ok":true}')));
  const lookup = createLookup((hostname) =>
    hostname === 'alive.example' ? Promise.resolve(['127.0.0.1']) : new Promise(() => {}),
  );
  const dispatchers = createDispatchers({ lookup });
  const callHost = (host: string, callMs: number) =>
    call(dispatchers, `http://${host}:${port}`, { callMs });
  const hanging = Array.from({ length: 20 }, () => callHost('dead.example', 500));
  const response = { status: 200, body: { ok: true } };
  expect(await callHost('alive.example', 5_000)).toEqual(response);
  for (const result of await Promise.allSettled(hanging))
    expect(result).toMatchObject({ reason: expect.any(GatewayUnavailable) });
});

/** Answers every request in the same way, and keeps what was sent. */
const startServer = async (status: number, headers: Record<string, string>, body: string) => {
  const sent: string[] = [];
  const server = createHttpServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (part: string) => (text += part));
    req.on('end', () => {
      sent.push(`${req.method} ${req.url} ${text}`.trim());
      res.writeHead(status, headers).end(body);
    });
  });
  return { url: `http://127.0.0.1:${await listenForTest(server)}`, sent };
};

describe('methods', () => {
  it.each(['POST', 'PUT', 'PATCH'] as const)('sends %s with a body', async (method) => {
    const server = await startServer(200, {}, '{"ok":true}');
    const target = { provider: 'somebody', baseUrl: server.url, override: undefined };
    const callGateway = beginTry({ ...createDispatchers(), allowLoopback: true })(target);
    const operation = 'change';
    const json = await callGateway({ operation, method, path: '/json', json: { a: 1 } });
    await callGateway({ operation, method, path: '/form', form: { a: 'b c' } });
    expect(json).toEqual({ status: 200, body: { ok: true } });
    expect(server.sent).toEqual([`${method} /json {"a":1}`, `${method} /form a=b+c`]);
  });

  it('returns 204 of a DELETE, without a body', async () => {
    const server = await startServer(204, {}, '');
    const response = await call(createDispatchers(), server.url, { method: 'DELETE' });
    expect(response).toEqual({ status: 204, body: undefined });
    expect(server.sent).toEqual(['DELETE /']);
  });

  it.each(['', '<!doctype html><title>Done</title>'])(
    'returns 200 of a DELETE with %j, which is no outcome for any schema',
    async (body) => {
      const server = await startServer(200, { 'content-type': 'text/html' }, body);
      const response = await call(createDispatchers(), server.url, { method: 'DELETE' });
      expect(response).toEqual({ status: 200, body: undefined });
      expect(() => parseResponse(z.looseObject({}), response, 'close')).toThrow(GatewayUnavailable);
    },
  );

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'throws GatewayUnavailable for a %s that answers a redirect or a failure, and sends it once',
    async (method) => {
      for (const status of [301, 302, 303, 307, 308, 408, 429, 500, 502, 503]) {
        const server = await startServer(status, { location: '/elsewhere' }, '{}');
        const response = call(createDispatchers(), server.url, { method });
        await expect(response).rejects.toThrow(GatewayUnavailable);
        await expect(response).rejects.toThrow(`somebody, status: HTTP ${status}`);
        expect(server.sent).toEqual([`${method} /`]);
      }
    },
  );
});

describe('TLS settings of one gateway', () => {
  /** Its connections end after an HTTP response. */
  const startTls = async (options: TlsOptions) => {
    const response = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';
    const { key, cert } = selfSigned;
    const server = createServer({ key, cert, ...options }, (socket) => socket.end(response));
    return listenForTest(server);
  };
  /** As NODE_EXTRA_CA_CERTS does at the start of a process. */
  const trustTestCertificate = () => {
    const usual = getCACertificates();
    setDefaultCACertificates([...usual, selfSigned.cert]);
    onTestFinished(() => setDefaultCACertificates(usual));
  };
  /** It signs with SHA-1, which OpenSSL refuses at its usual level of security. */
  const weak: TlsOptions = {
    ciphers: 'DEFAULT@SECLEVEL=0',
    sigalgs: 'ECDSA+SHA1',
    maxVersion: 'TLSv1.2',
  };
  const tls: TlsSettings = { ciphers: 'DEFAULT@SECLEVEL=0' };
  const response = { status: 200, body: {} };

  it('are for this gateway alone: others refuse the same server, before and after', async () => {
    trustTestCertificate();
    const url = `https://127.0.0.1:${await startTls(weak)}`;
    const dispatchers = createDispatchers();
    const refused = 'no complete response (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)';
    await expect(call(dispatchers, url)).rejects.toThrow(refused);
    expect(await call(dispatchers, url, { tls })).toEqual(response);
    await expect(call(dispatchers, url)).rejects.toThrow(refused);
    await expect(call(dispatchers, url, { tls: {} })).rejects.toThrow(refused);
    await expect(
      call(dispatchers, url, { tls: { ciphers: 'DEFAULT@SECLEVEL=1' } }),
    ).rejects.toThrow(refused);
  });

  it('refuse a version below the least one', async () => {
    trustTestCertificate();
    const url = `https://127.0.0.1:${await startTls({ maxVersion: 'TLSv1.2' })}`;
    const dispatchers = createDispatchers();
    expect(await call(dispatchers, url)).toEqual(response);
    await expect(call(dispatchers, url, { tls: { minVersion: 'TLSv1.3' } })).rejects.toThrow(
      '_ALERT_PROTOCOL_VERSION',
    );
  });

  it('accept no certificate of an unknown authority, of another host, and none at all', async () => {
    const port = await startTls(weak);
    const lookup = createLookup(async () => ['127.0.0.1']);
    const dispatchers = createDispatchers({ lookup });
    await expect(call(dispatchers, `https://127.0.0.1:${port}`, { tls })).rejects.toThrow(
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    );
    trustTestCertificate();
    await expect(call(dispatchers, `https://other.example:${port}`, { tls })).rejects.toThrow(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    const anonymous = { ciphers: 'ADH-AES128-SHA256@SECLEVEL=0' };
    const options = { ...anonymous, dhparam: 'auto', maxVersion: 'TLSv1.2' } as const;
    const url = `https://127.0.0.1:${await startTls(options)}`;
    await expect(call(dispatchers, url, { tls: anonymous })).rejects.toThrow(
      'UNABLE_TO_GET_ISSUER_CERT',
    );
  });

  it('share one dispatcher, and do not make one for each call', () => {
    const { dispatcherOf } = createDispatchers();
    expect(dispatcherOf({ ...tls })).toBe(dispatcherOf({ ...tls }));
    expect(dispatcherOf()).toBe(dispatcherOf({}));
    expect(dispatcherOf(tls)).not.toBe(dispatcherOf());
  });
});
