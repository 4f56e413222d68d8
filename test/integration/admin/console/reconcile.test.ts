import { expect, it } from 'vitest';
import { startFilledConsole } from '../../../support/service/filled-console.ts';
import { until } from '../../../support/until.ts';

let release: (() => void) | undefined;
let isAway = false;
const restarted: string[] = [];
const { console, ids } = await startFilledConsole({
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
});
const person = await console.logIn('operator');
const compare = () => person.post('/reconcile', { since: 'running only' });
const show = async () => (await person.get('/reconcile')).text;
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
  await person.post('/reconcile/heal', { form_id: 'heal', reason: 'Temporal was restored' });
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
  await person.post('/reconcile/stop');
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
  const { text } = await (await console.logIn('viewer')).get('/reconcile');
  expect(text).toContain('The last comparison');
  expect(text).not.toContain('Compare</button>');
});
