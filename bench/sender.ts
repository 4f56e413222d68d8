import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { webhookUrlProblem } from '../webhooks/address.ts';
import { createWebhookDispatcher } from '../webhooks/connector.ts';
import { attemptDeadlineMs, post } from '../webhooks/request.ts';
import { createHeaders } from '../webhooks/signature.ts';
import { startChild } from '../stack/child.ts';
import { openLog } from '../stack/logs.ts';
import { freePort } from '../stack/ports.ts';
import { compared, type Round } from './figure.ts';
import type { Group } from './group.ts';
import { closedLoop, perSecondOf } from './load.ts';

const bounds = { atOnce: 50, count: Infinity, limitMs: 4_000 };
const rule = { allowLoopback: true };

/** Attempts as the worker makes them, without engine and database, beside plain requests. */
export const measureSender: Group = async ({ folder, signal, cleanup, say }) => {
  const port = await freePort();
  const receiver = await startChild({
    name: 'The receiver',
    args: [join(import.meta.dirname, 'bare/receiver.ts'), String(port)],
    env: {},
    stopMs: 3_000,
    log: openLog(folder, 'receiver', () => {}),
    onSpawn: () => {},
    signal,
  });
  cleanup.defer(receiver.stop);
  const url = `http://127.0.0.1:${port}/webhook`;
  const plain = new Agent({ connections: bounds.atOnce });
  const dispatcher = createWebhookDispatcher({ ...rule, timeoutMs: attemptDeadlineMs });
  cleanup.defer(() => plain.destroy());
  cleanup.defer(() => dispatcher.destroy());

  // An event's usual size.
  const body = Buffer.from(JSON.stringify({ event: 'payment.paid', text: 'x'.repeat(600) }));
  const secrets = ['whsec_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'];
  const event = { id: randomUUID(), kind: 'payment.paid', body } as const;
  const headersNow = () => createHeaders({ event, attempt: 1, secrets, now: new Date() });

  // The same bytes on the wire, made once.
  const headers = headersNow();
  const send = async () => {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: plain });
    await answer.body.dump();
  };
  const attempt = async () => {
    const problem = webhookUrlProblem(url, rule);
    const { errorClass } = await post({
      ...{ url, body, dispatcher, signal },
      headers: headersNow(),
    });
    if (problem || errorClass) throw new Error(`The attempt failed: ${problem ?? errorClass}`);
  };

  say('The sender alone …');
  for (const work of [send, attempt]) await closedLoop(bounds, work);
  const rounds: Round[] = [];
  for (let round = 0; round < 5; round += 1)
    rounds.push({
      ceiling: perSecondOf(await closedLoop(bounds, send)),
      ours: perSecondOf(await closedLoop(bounds, attempt)),
    });
  const name = `webhooks, the sender alone, ${bounds.atOnce} at once`;
  return [compared({ name, unit: '/s', ceilingName: 'bare undici' }, rounds, { atLeast: 0.7 })];
};
