import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createReadTimeout } from '../../../../postgres/driver/read-timeout.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const aSocket = (watch = createReadTimeout()) => {
  const socket = {
    bytesRead: 0,
    bytesWritten: 0,
    destroyed: false,
    destroy: () => Object.assign(socket, { destroyed: true }) as never,
  };
  watch(socket);
  return socket;
};
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

it('destroys a connection that has waited longer for an answer than a query takes', () => {
  const socket = aSocket();
  socket.bytesWritten += 10;
  pass(12);
  expect(socket.destroyed).toBe(false);
  pass(3);
  expect(socket.destroyed).toBe(true);
  pass(1);
  expect(vi.getTimerCount()).toBe(0);
});

it('starts to count again at every answer and at every query after an idle time', () => {
  const socket = aSocket();
  for (let answer = 0; answer < 5; answer += 1) {
    socket.bytesWritten += 10;
    pass(12);
    socket.bytesRead += 10;
    pass(40);
  }
  expect(socket.destroyed).toBe(false);
});

it('leaves an idle connection to the pool, and destroys it when the pool does not end it', () => {
  const socket = aSocket();
  socket.bytesWritten += 10;
  socket.bytesRead += 10;
  pass(65);
  expect(socket.destroyed).toBe(false);
  pass(10);
  expect(socket.destroyed).toBe(true);
});

it('destroys the silent connections of a pool together with one that waits in vain', () => {
  const watch = createReadTimeout();
  const silent = aSocket(watch);
  const ofAnotherPool = aSocket();
  const waiting = aSocket(watch);
  const lively = aSocket(watch);
  for (const socket of [silent, ofAnotherPool]) {
    socket.bytesWritten += 10;
    socket.bytesRead += 10;
  }
  pass(5);
  waiting.bytesWritten += 10;
  pass(10);
  lively.bytesRead += 10;
  pass(5);
  expect(silent.destroyed).toBe(true);
  expect(ofAnotherPool.destroyed).toBe(false);
  expect(waiting.destroyed).toBe(true);
  expect(lively.destroyed).toBe(false);
});
