import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Random } from './random.ts';
import type { CreatedPayment } from './scenarios.ts';

export interface Deps {
  client: Client;
  apiUrl: string;
  random: Random;
}

const patienceMs = 60_000;

/** The providers' notifications about payments: now or later, often twice, or not at all. */
export const createNotifications = ({ client, apiUrl, random }: Deps) => {
  const sending: Promise<unknown>[] = [];
  const sendOne = async ({ order, gateway }: CreatedPayment, reference: string) => {
    await sleep(random.between(0, 5_000));
    await client(
      {
        method: 'POST',
        url:
          gateway.reportUrl(reference) ?? `${apiUrl}/api/v1/gateways/${gateway.slug}/notifications`,
        ...gateway.notice?.(reference),
      },
      { name: 'notification', order, until: Date.now() + patienceMs, expects: [200] },
    );
  };
  return {
    send(payment: CreatedPayment, reference: string): void {
      const { notice, reportUrl } = payment.gateway;
      if (!notice && reportUrl(reference) === undefined) return;
      const times = random.pick([0, 1, 1, 2]);
      for (let time = 0; time < times; time += 1) sending.push(sendOne(payment, reference));
    },
    waitForAll: () => Promise.all(sending),
  };
};
export type Notifications = ReturnType<typeof createNotifications>;
