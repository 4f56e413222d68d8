import { expect, it } from 'vitest';
import { startConsole, type TestConsole } from '../../../support/service/console.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

let release: (() => void) | undefined;
let isAway = false;
const restarted: string[] = [];
const console = await forFile(
  startConsole({
    temporal: {
      async running() {
        if (isAway) throw new Error('connection refused');
        if (release) await new Promise<void>((go) => (release = go));
        return new Set();
      },
      async restart({ id }) {
        restarted.push(id);
      },
    },
  }),
);
const ids = await fillConsole(console.sql);

let login: ReturnType<TestConsole['logIn']> | undefined;
const person = () => (login ??= console.logIn('operator'));

const compare = async () => {
  const { cookie, csrf } = await person();
  const form = { csrf, since: 'running only' };
  return console.call('/reconcile', { method: 'POST', cookie, form });
};
const show = async () =>
  (await console.call('/reconcile', { cookie: (await person()).cookie })).text;
const ended = () =>
  until('the comparison has ended', async () => {
    const text = await show();
    return !text.includes('hx-get') && text;
  });

it('lists the differences, changes nothing and leaves no record', async () => {
  expect(await show()).toContain('Nobody has compared');
  const { status, headers } = await compare();
  expect([status, headers.location]).toEqual([303, '/reconcile']);
  const text = await ended();
  expect(text).toContain('open payment without a workflow');
  expect(text).toContain(`/payments/${ids.open}`);
  expect(restarted).toEqual([]);
  expect(await console.sql`select from audit_log where action like 'payment.heal%'`).toEqual([]);
});

it('starts the missing workflows, each with a record of who and why', async () => {
  const { cookie, csrf } = await person();
  const form = { csrf, form_id: 'heal', reason: 'Temporal was restored' };
  await console.call('/reconcile/heal', { method: 'POST', cookie, form });
  expect(await ended()).toContain('started');
  expect(restarted).toContain(ids.open);
  const records = await console.sql`
    select actor, via, reason from audit_log
    where action = 'payment.heal' and subject = ${`payment:${ids.open}`}`;
  expect(records).toEqual([
    { actor: 'operator-person', via: 'console', reason: 'Temporal was restored' },
  ]);
});

it('compares once at a time, and stops when asked to', async () => {
  release = () => {};
  await compare();
  expect(await show()).toContain('/reconcile/stop');
  const second = await compare();
  expect([second.status, second.text.includes('is comparing already')]).toEqual([409, true]);
  const { cookie, csrf } = await person();
  await console.call('/reconcile/stop', { method: 'POST', cookie, form: { csrf } });
  const go = release;
  release = undefined;
  go();
  const text = await ended();
  expect(text).toContain('Interrupted');
});

it('says that Temporal did not answer, and what it found until then', async () => {
  isAway = true;
  await compare();
  const text = await ended();
  expect(text).toContain('Temporal or the database did not answer');
  isAway = false;
});

it('a viewer sees the result and no button', async () => {
  const { cookie } = await console.logIn('viewer');
  const { text } = await console.call('/reconcile', { cookie });
  expect(text).toContain('The last comparison');
  expect(text).not.toContain('Compare</button>');
});
