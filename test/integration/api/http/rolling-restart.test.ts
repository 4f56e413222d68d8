import { Agent, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJourney } from '../../../support/journey.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

let service: Service;
let second: Awaited<ReturnType<Service['anotherApi']>>;
let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
beforeAll(async () => {
  service = await startService({ apiEnv: { SHUTDOWN_GRACE_SECONDS: '20' } });
  second = await service.anotherApi();
  proxy = await startTcpProxy([service.url, second.url]);
});
afterAll(async () => {
  await proxy?.stop();
  await service?.stop();
});

const perSecond = 200;
const order = JSON.stringify({ order_id: 'o', amount: 1, currency: 'EUR' });

describe('a rolling restart', () => {
  it('loses and cuts no request, at 200 a second, nine reads to one create', async () => {
    const { token } = await service.anApplication();
    const id = await createJourney(service, token).create();
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const send = (isCreate: boolean) =>
      new Promise<string>((resolve) => {
        const sent = httpRequest(
          `${proxy.url}/api/v1/payments${isCreate ? '' : `/${id}`}`,
          {
            agent,
            method: isCreate ? 'POST' : 'GET',
            headers: {
              authorization: `Bearer ${token}`,
              ...(isCreate && { 'content-type': 'application/json' }),
            },
          },
          (response) =>
            void text(response).then(
              (body) =>
                resolve(
                  body.endsWith('}')
                    ? `${isCreate ? 'create' : 'read'} ${response.statusCode}`
                    : 'cut',
                ),
              (error: unknown) => resolve(`cut: ${String(error)}`),
            ),
        );
        sent.on('error', (error) =>
          resolve(`${String(error)}${sent.reusedSocket ? ' on a connection used before' : ''}`),
        );
        sent.end(isCreate ? order : undefined);
      });

    const answers: Promise<string>[] = [];
    let restarting = true;
    const load = async () => {
      const began = performance.now();
      for (let index = 0; restarting; index += 1) {
        await sleep(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
        answers.push(send(index % 10 === 0));
      }
    };
    const restarts = async () => {
      for (const process of [service.api, second.process, service.api]) {
        await process.stop();
        await process.start();
      }
      restarting = false;
    };
    await Promise.all([load(), restarts()]);

    const counts: Record<string, number> = {};
    for (const answer of await Promise.all(answers)) counts[answer] = (counts[answer] ?? 0) + 1;
    agent.destroy();
    expect(Object.keys(counts).toSorted(), JSON.stringify({ counts, cuts: proxy.cuts })).toEqual([
      'create 201',
      'read 200',
    ]);
    expect(answers.length).toBeGreaterThan(perSecond);
    const [row] = await service.sql<{ made: number }[]>`select count(*) as made from payments`;
    expect(row?.made).toBe((counts['create 201'] ?? 0) + 1);
  });
});
