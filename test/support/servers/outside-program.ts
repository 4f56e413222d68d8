import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';

/** The requests that a program outside gets, on a port that stays the same while it is away. */
export const anOutsideProgram = async () => {
  const posts: { path: string; body: string }[] = [];
  const port = await freePort();
  const listen = async () => {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        posts.push({ path: request.url ?? '', body });
        // As Slack answers.
        response.end('ok');
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen();
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    at: (path: string) => posts.filter((post) => post.path === path).map(({ body }) => body),
    close,
    async open() {
      server = await listen();
    },
  };
};
