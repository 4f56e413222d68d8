import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startLink } from '../../../chaos/link.ts';
import { until } from '../../support/until.ts';

/** A server behind a link, and a call through it: undefined is no answer within the time. */
const aServer = async () => {
  let calls = 0;
  const server = createServer((_, res) => {
    calls += 1;
    res.end('answer');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await until('it listens', async () => server.listening);
  const link = await startLink(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // On TCP.
  onTestFinished(link.stop);
  const call = (ms = 5_000) =>
    fetch(link.url, { signal: AbortSignal.timeout(ms) }).then((answer) => answer.text());
  return { link, call, calls: () => calls };
};

it('a link that swallows neither refuses nor answers, and breaks what it has swallowed when it recovers', async () => {
  const { link, call, calls } = await aServer();
  const old = connect(Number(new URL(link.url).port), '127.0.0.1');
  onTestFinished(() => void old.destroy());
  let received = '';
  old.on('data', (piece: Buffer) => (received += piece.toString())).on('error', () => {});
  const ask = () => old.write('GET / HTTP/1.1\r\nhost: link\r\n\r\n');
  ask();
  await until('it is answered', async () => received.endsWith('answer'));
  const before = received;

  link.swallow(true);
  ask();
  await until('it arrives', async () => calls() === 2);
  const waiting = call();
  waiting.catch(() => {});
  await expect(call(300)).rejects.toMatchObject({ name: 'TimeoutError' });
  expect([calls(), received]).toEqual([2, before]);

  link.swallow(false);
  await expect(waiting).rejects.toMatchObject({ message: 'fetch failed' });
  await until('the old connection is over', async () => old.closed);
  expect(await call()).toBe('answer');
});
