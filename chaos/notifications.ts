import { setTimeout as sleep } from 'node:timers/promises';
import { noticeOf } from '../test/support/service/stripe-account.ts';
import type { Client } from './client.ts';
import type { Random } from './random.ts';
import type { CreatedPayment } from './scenarios.ts';

export interface Deps {
  client: Client;
  apiUrl: string;
  random: Random;
}

const patienceMs = 60_000;

/** Stripe's notifications about payments: now or later, often twice, or not at all. */
export const createNotifications = ({ client, apiUrl, random }: Deps) => {
  const sending: Promise<unknown>[] = [];
  const sendOne = async (order: string, reference: string) => {
    await sleep(random.between(0, 5_000));
    await client(
      {
        method: 'POST',
        url: `${apiUrl}/api/v1/gateways/stripe/notifications`,
        ...noticeOf(reference),
      },
      { name: 'notification', order, until: Date.now() + patienceMs, expects: [200] },
    );
  };
  return {
    send({ gateway, order }: CreatedPayment, reference: string): void {
      if (gateway.slug !== 'stripe') return;
      const times = random.pick([0, 1, 1, 2]);
      for (let time = 0; time < times; time += 1) sending.push(sendOne(order, reference));
    },
    waitForAll: () => Promise.all(sending),
  };
};
export type Notifications = ReturnType<typeof createNotifications>;
