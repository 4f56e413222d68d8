import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../../stack/ports.ts';
import { openUiDoor } from '../../../../stack/temporal/ui-door.ts';

/** A door before a UI that answers with what it was asked. */
const aDoor = async () => {
  const { url, ui } = await openUiDoor(await freePort());
  const server = createServer((req, res) => {
    void text(req).then((body) => res.writeHead(202).end(`${req.method} ${req.url} ${body}`));
  });
  server.listen(ui.port, ui.host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    url,
    ask: async (host: string) => {
      const { port } = new URL(url);
      const sent = request({ port, method: 'POST', path: '/api/v1/x?y=1', headers: { host } });
      sent.end('body');
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return [answer.statusCode, await text(answer)];
    },
    stop: () => once(server.close(), 'close'),
  };
};

it('passes on what is asked under its own name', async () => {
  const { url, ask } = await aDoor();
  expect(await ask(new URL(url).host)).toEqual([202, 'POST /api/v1/x?y=1 body']);
});

it('answers 421 to a name that somebody else has bound to this machine', async () => {
  const { url, ask } = await aDoor();
  const { port } = new URL(url);
  for (const host of [`evil.example:${port}`, 'evil.example', `localhost:${port}`])
    expect(await ask(host)).toEqual([421, `The Temporal UI is at ${url}\n`]);
});

it('closes the connection while the UI is away', async () => {
  const { url, ask, stop } = await aDoor();
  await stop();
  await expect(ask(new URL(url).host)).rejects.toThrow('socket hang up');
});
