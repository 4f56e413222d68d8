import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../../contract/limits.ts';
import { createJourney } from '../../../support/journey.ts';
import { createHead, rawConnection } from '../../../support/raw-http.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  ({ token } = await service.anApplication());
});
afterAll(() => service?.stop());

const openFiles = () => readdirSync(`/proc/${service.api.pid()}/fd`).length;

describe('a slow sender', () => {
  it.concurrent.each<[string, number, () => string, (piece: number) => string]>([
    [
      'headers',
      limits.requestHeadSeconds,
      () => 'GET /api/v1/me HTTP/1.1\r\n',
      (piece) => `x-slow-${piece}: 1\r\n`,
    ],
    ['nothing at all', limits.requestHeadSeconds, () => '', () => ''],
    ['a body', limits.requestSeconds, () => `${createHead(token, 60_000)}{`, () => ' '],
  ])(
    'of %s is cut off after %i seconds, however busy it looks',
    async (_, seconds, first, more) => {
      const { socket, closed } = await rawConnection(service.url);
      const began = performance.now();
      if (first() !== '') socket.write(first());
      let piece = 0;
      const dripping = setInterval(() => {
        const text = more((piece += 1));
        if (text !== '') socket.write(text);
      }, 500);
      const answer = await closed;
      clearInterval(dripping);
      expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*\r\n\r\n$/);
      expect((performance.now() - began) / 1000).toBeGreaterThan(seconds - 1);
      expect((performance.now() - began) / 1000).toBeLessThan(seconds + 10);
    },
  );
});

describe('a head', () => {
  const withHead = async (kb: number) => {
    const { socket, closed } = await rawConnection(service.url);
    const line = 'GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-long: ';
    socket.write(`${line.padEnd(kb * 1024 - 4, 'a')}\r\n\r\n`);
    return closed;
  };

  it('of more than 16 KB is answered 431, without a body and a line in the log', async () => {
    expect(await withHead(limits.requestHeadKb - 1)).toMatch(/^HTTP\/1\.1 404 /);
    const answer = await withHead(limits.requestHeadKb + 1);
    expect(answer).toMatch(/^HTTP\/1\.1 431 [^]*\r\n\r\n$/);
    const id = /x-request-id: (\w+)/i.exec(answer)?.[1] ?? 'none';
    // What comes later is there, so this would be as well.
    const { 1: last = 'none' } = /x-request-id: (\w+)/i.exec(await withHead(1)) ?? [];
    await until('the next is logged', () => service.api.lines.some((line) => line.includes(last)));
    expect(service.api.lines.filter((line) => line.includes(id))).toEqual([]);
  });
});

describe('a head of many lines', () => {
  const withLines = async (count: number) => {
    const { socket, closed } = await rawConnection(service.url);
    const more = Array.from({ length: count - 2 }, (_, index) => `x-${index}: 1\r\n`).join('');
    socket.write(`GET /nowhere HTTP/1.1\r\nhost: x\r\n${more}connection: close\r\n\r\n`);
    return closed;
  };

  it('is answered 431 beyond 100, without a body', async () => {
    expect(await withLines(limits.requestHeaders)).toMatch(/^HTTP\/1\.1 404 /);
    for (const count of [limits.requestHeaders + 1, 900])
      expect(await withLines(count)).toMatch(/^HTTP\/1\.1 431 [^]*x-request-id: [^]*\r\n\r\n/i);
  });
});

describe('a client that hangs up', () => {
  it('leaves no socket, and no wait, behind', async () => {
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    // Payers who wait for the opening, or for what the gateway says: no worker asks it.
    await service.worker.stop();
    const waiting = await journey.create();
    const before = openFiles();
    const beginnings = [
      'GET /api/v1/pay',
      `${createHead(token, 60_000)}{"order_id":`,
      `GET /api/v1/payments/${waiting}/checkout HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET /api/v1/payments/${id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
      `GET /api/v1/payments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
      `POST /api/v1/payments/${id}/verify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
    ];
    const lines = service.api.lines.length;
    for (let index = 0; index < 40 * beginnings.length; index += 1) {
      const { socket } = await rawConnection(service.url);
      socket.write(beginnings[index % beginnings.length] ?? '', () => socket.resetAndDestroy());
    }
    // The pool may have grown to its 20 connections and the probe.
    await until('all sockets are closed', () => openFiles() <= before + 21);
    // Whoever is waited for to the end is no 499. Payers’ pages are limited for each address.
    const ended = (path: string) =>
      service.api.lines
        .slice(lines)
        .filter((line) => line.includes(path) && /"status":499.*"Request"/.test(line)).length;
    const isOver = () => ['/checkout', '/verify'].every((path) => ended(path) >= 20);
    await until('nobody is waited for', isOver);
    await until('no statement is left', async () => {
      const [row] = await service.sql<{ active: number }[]>`
        select count(*) as active from pg_stat_activity
        where application_name = 'payments-api' and state <> 'idle'
          and datname = current_database()`;
      return row?.active === 0;
    });
    const failures = service.api.lines.slice(lines).filter((line) => line.includes('"level":50'));
    expect(failures).toEqual([]);
    await service.worker.start();
    expect((await journey.get(id)).status).toBe(200);
  });
});
