import { setTimeout as sleep } from 'node:timers/promises';
import { DemoError } from './connection.ts';
import { type Answer, send, type Wanted } from './http.ts';
import type { Terminal } from './terminal.ts';

const checkoutLimitMs = 30_000;

/** Goes where a browser would go, one redirect at a time; ends at the application's address. */
export const pay = async (checkoutUrl: string, terminal: Terminal): Promise<string> => {
  terminal.step('The payer opens the checkout and pays on the gateway’s page');
  const page = await openCheckout(checkoutUrl, terminal);
  const form = await visit(page, {}, terminal);
  if (form.status !== 200 || !form.text.includes('<form'))
    throw new DemoError(`The gateway’s page has no form to pay with (status ${form.status}).`);
  const paid = await visit(
    page,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'action=pay',
    },
    terminal,
  );
  const returned = await visit(targetOf(paid, page), { timeoutMs: 20_000 }, terminal);
  return targetOf(returned, page);
};

/** The checkout may ask the payer to wait while the payment is opened at the gateway. */
const openCheckout = async (url: string, terminal: Terminal): Promise<string> => {
  const until = Date.now() + checkoutLimitMs;
  for (;;) {
    const answer = await visit(url, { timeoutMs: 15_000 }, terminal);
    if (answer.status !== 503 || Date.now() > until) return targetOf(answer, url);
    await sleep(1000);
  }
};

/** The callback URL is where the payer ends; it proves nothing. */
export const comeBack = async (callback: string, terminal: Terminal) => {
  terminal.step('The payer is back in the shop (a hint, not yet a proof)');
  const answer = await visit(callback, {}, terminal);
  if (answer.status !== 200)
    throw new DemoError(`The shop answered the payer’s return with status ${answer.status}.`);
};

const visit = async (url: string, wanted: Wanted, terminal: Terminal): Promise<Answer> => {
  terminal.sent(`${wanted.method ?? 'GET'} ${url}${wanted.body ? `  ${wanted.body}` : ''}`);
  const answer = await send(url, wanted);
  const location = answer.headers.get('location');
  terminal.received(location === null ? String(answer.status) : `${answer.status} → ${location}`);
  return answer;
};

const targetOf = (answer: Answer, from: string): string => {
  const location = answer.headers.get('location');
  if (location === null || ![302, 303].includes(answer.status))
    throw new DemoError(`${from} answered ${answer.status} where a redirect should have come.`);
  return new URL(location, from).href;
};
