import type { CreatePayment, SandboxPlan } from '../types.ts';
import { lineOf } from './events.ts';
import type { Cli } from './output.ts';
import { countOf, print, printError, refuseLive, sleep } from './output.ts';

/** The outcomes of a sandbox plan. */
export const outcomes = [
  'paid',
  'failed',
  'cancelled',
  'abandoned',
  'paid_late',
  'silent',
  'other_amount',
  'already_verified',
  'dispute_won',
  'dispute_lost',
  'inquiry_closed',
] as const satisfies SandboxPlan['outcome'][];

const pollMs = 1_000;
/** The outcomes that need a payment to end by its deadline, and the shortest deadline. */
const endingByDeadline = ['abandoned', 'paid_late'];
const shortestSeconds = 60;
const maxWaitMs = 5 * 60_000;

/** The largest amount that the service takes, in minor units. */
const maxAmount = 999_999_999_999;

/** `trigger OUTCOME`: one payment of the sandbox that ends so, and its event. */
export const trigger = async (cli: Cli): Promise<void> => {
  refuseLive(cli, 'trigger');
  const { client, word, flags } = cli;
  const amount = countOf('--minor-units', flags['minor-units'] ?? '1000', maxAmount);
  const sandbox = {
    outcome: word,
    ...(flags['failure-code'] !== undefined && { failure_code: flags['failure-code'] }),
    ...(word === 'silent' && { after_seconds: 5 }),
    // The service checks the values, and its error names those that it knows.
  } as SandboxPlan;
  const payment = await client.payments.create({
    order_id: flags.order ?? `trigger-${Date.now()}`,
    amount,
    currency: (flags.currency ?? 'EUR') as CreatePayment['currency'],
    sandbox,
    ...(endingByDeadline.includes(word) && { expires_in: shortestSeconds }),
  });
  print(`${payment.payment_id} for order ${payment.order_id}: waiting for its event …`);
  for (const end = Date.now() + maxWaitMs; Date.now() < end; await sleep(pollMs)) {
    const { data } = await client.events.list({ payment_id: payment.payment_id }).page();
    if (data[0]) return print(lineOf(data[0]));
  }
  printError(
    'No event within five minutes: example-payments events list shows it when it is there.',
  );
  process.exitCode = 1;
};
