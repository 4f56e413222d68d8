import { setTimeout as sleep } from 'node:timers/promises';
import { noticeOf } from '../test/support/stripe-account.ts';
import type { Client } from './client.ts';
import type { Random } from './random.ts';
import type { Created } from './wishes.ts';

export interface Deps {
  client: Client;
  apiUrl: string;
  random: Random;
}

const patienceMs = 60_000;

/** What Stripe's servers tell of a payment by themselves: now or later, often twice, or not at all. */
export const createNotices = ({ client, apiUrl, random }: Deps) => {
  const sending: Promise<unknown>[] = [];
  const send = async (order: string, reference: string) => {
    await sleep(random.between(0, 5_000));
    await client(
      {
        ...{ method: 'POST', url: `${apiUrl}/api/v1/gateways/stripe/notifications` },
        ...noticeOf(reference),
      },
      {
        ...{ what: 'notice', order, until: Date.now() + patienceMs },
        takes: (status) => status === 200,
      },
    );
  };
  return {
    about({ gateway, order }: Created, reference: string): void {
      if (gateway.slug !== 'stripe') return;
      const times = random.pick([0, 1, 1, 2]);
      for (let time = 0; time < times; time += 1) sending.push(send(order, reference));
    },
    all: () => Promise.all(sending),
  };
};
export type Notices = ReturnType<typeof createNotices>;
