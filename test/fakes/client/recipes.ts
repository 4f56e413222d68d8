import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/*
 * node recipes.ts FOLDER: serves the receivers of the client's README, which a test has written there, and
 * prints their addresses.
 */

const folder = process.argv[2] ?? '';
const load = async <T>(name: string) =>
  (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as T;

type Handler = (request: Request) => Response | Promise<Response>;

/** Serves a handler of web requests, as its own platform would. */
const onWeb =
  (handle: Handler): RequestListener =>
  (request, response) => {
    const answer = async () => {
      const { method = '', url = '' } = request;
      const headers = new Headers(request.headers as Record<string, string>);
      const body = await buffer(request);
      return handle(new Request(`http://127.0.0.1${url}`, { method, headers, body }));
    };
    void answer().then(async (result) =>
      response.writeHead(result.status).end(await result.bytes()),
    );
  };

const { app: express } = await load<{ app: RequestListener }>('express');
const { app: koa } = await load<{ app: { silent: boolean; callback: () => RequestListener } }>(
  'koa',
);
const { POST } = await load<{ POST: Handler }>('next');
const { app: hono } = await load<{ app: { fetch: Handler } }>('hono');
koa.silent = true;

const listeners = {
  express,
  koa: koa.callback(),
  next: onWeb(POST),
  hono: onWeb((request) => hono.fetch(request)),
};
const urls: Record<string, string> = {};
for (const [name, listener] of Object.entries(listeners)) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`; // It listens on TCP.
}
console.log(JSON.stringify(urls));
