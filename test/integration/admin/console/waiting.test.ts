import { expect, it } from 'vitest';
import { startFilledConsole } from '../../../support/service/filled-console.ts';
import { until } from '../../../support/until.ts';
import type { TemporalAdmin } from '../../../../temporal/admin-client.ts';

type Result = Awaited<ReturnType<TemporalAdmin['verify']>>;
let worker = Promise.withResolvers<Result>();
const { console, ids } = await startFilledConsole({
  waitingAfterMs: 20,
  // A worker that hangs until the test lets it answer.
  temporal: { verify: () => worker.promise },
});
const path = `/payments/${ids.open}/verify`;
const ada = await console.logIn('operator', 'ada');

const ask = async () => {
  worker = Promise.withResolvers();
  const { status, headers } = await ada.post(path, { back: `/payments/${ids.open}` });
  expect(status).toBe(303);
  const to = headers.location ?? '';
  expect(to).toMatch(/^\/waiting\/[\w-]{36}$/);
  return to;
};

/** Loads the page again, as the browser does, until it shows the answer. */
const answerOf = (waiting: string) =>
  until('the answer is shown', async () => {
    const shown = await ada.get(waiting);
    return shown.status !== 200 && shown;
  });

it('shows a page that loads itself again while a worker hangs, and then the answer', async () => {
  const waiting = await ask();
  const shown = await ada.get(waiting);
  expect([shown.status, shown.headers['refresh']]).toEqual([200, '1']);
  expect(shown.text).toContain(`href="/payments/${ids.open}"`);
  worker.resolve({ kind: 'waiting' });
  const { status, headers } = await answerOf(waiting);
  expect([status, headers.location]).toEqual([303, `/payments/${ids.open}`]);
  const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  const back = await console.call(`/payments/${ids.open}`, { cookie: `${ada.cookie}; ${cookie}` });
  expect(back.text).toContain('The gateway has answered.');
});

it('shows a refusal with a form that can be sent again', async () => {
  const waiting = await ask();
  worker.resolve({ kind: 'unknown' });
  const { status, text } = await answerOf(waiting);
  expect([status, text.includes('The gateway gave no answer.')]).toEqual([409, true]);
  expect(text).toContain(`action="${path}`);
});

it('shows the answer once, and to nobody else', async () => {
  const waiting = await ask();
  worker.resolve({ kind: 'waiting' });
  const bob = await console.logIn('admin', 'bob');
  expect((await bob.get(waiting)).status).toBe(404);
  expect((await answerOf(waiting)).status).toBe(303);
  expect((await ada.get(waiting)).status).toBe(404);
});
