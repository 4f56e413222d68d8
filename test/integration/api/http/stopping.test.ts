import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { shutdownGracefully } from '../../../../api/http/server.ts';
import type { Handle } from '../../../support/http-application.ts';
import { serve } from '../../../support/http-application.ts';
import { rawConnection } from '../../../support/raw-http.ts';

/** A connection on which somebody asks what this handler answers, and a stop by a clock of the test's. */
const asking = async (handle: Handle) => {
  const came = Promise.withResolvers<void>();
  const { url, server } = await serve({
    showDocs(request) {
      came.resolve();
      return handle(request);
    },
  });
  const connection = await rawConnection(url);
  connection.socket.write('GET /api/v1/docs HTTP/1.1\r\nhost: x\r\n\r\n');
  await came.promise;
  const stop = async (graceMs: number) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const begun = Promise.withResolvers<void>();
    const stopped = shutdownGracefully(server, { graceMs, beginStop: begun.resolve });
    await begun.promise;
    return { stopped };
  };
  /** Moves the clock on. @returns whether the connection is still there */
  const isOpenAfter = async (ms: number): Promise<boolean> => {
    vi.advanceTimersByTime(ms);
    await new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => server.getConnections((_, count) => resolve(count === 1)));
  };
  return { ...connection, stop, isOpenAfter };
};

it('a connection that rests is kept for longer than proxies keep theirs, and for 5 s of a stop', async () => {
  const { socket, closed, stop, isOpenAfter } = await asking(async () => ({ status: 200 }));
  expect(String(await once(socket, 'data'))).toMatch(/\r\nkeep-alive: timeout=75\r\n/i);
  const { stopped } = await stop(20_000);
  expect(await isOpenAfter(4_999)).toBe(true);
  expect(await isOpenAfter(1)).toBe(false);
  await Promise.all([stopped, closed]);
});

it('a stop waits for an answer, and for 5 s more where its connection could be used again', async () => {
  const gate = Promise.withResolvers<void>();
  const { socket, closed, stop, isOpenAfter } = await asking(async () => {
    await gate.promise;
    return { status: 200 };
  });
  const { stopped } = await stop(20_000);
  expect(await isOpenAfter(9_000)).toBe(true);
  gate.resolve();
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  await isOpenAfter(6_000);
  await Promise.all([stopped, closed]);
});

it('a stop cuts off what is not answered when the grace is over', async () => {
  const { closed, stop, isOpenAfter } = await asking(() => new Promise(() => {}));
  const { stopped } = await stop(20_000);
  expect(await isOpenAfter(19_999)).toBe(true);
  expect(await isOpenAfter(1)).toBe(false);
  await stopped;
  expect(await closed).toBe('');
});
