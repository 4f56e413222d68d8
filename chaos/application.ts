import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from './client.ts';
import type { Journal } from './journal.ts';
import type { Created, Wish } from './wishes.ts';
import { isTerminal } from './wishes.ts';

const CreatedBody = z.object({
  payment_id: z.string(),
  expires_at: z.iso.datetime({ offset: true }),
});
const StatusBody = z.object({ status: z.string() });

export interface Deps {
  client: Client;
  journal: Journal;
  apiUrl: string;
  token: string;
}

const createPatienceMs = 120_000;
const verifyPatienceMs = 45_000;
/** Within 3 s the service answers from its record. */
const verifyEveryMs = 3_000;

/** The application as it meets the service: over HTTP alone. */
export const createApplication = ({ client, journal, apiUrl, token }: Deps) => {
  const payments = `${apiUrl}/api/v1/payments`;
  const authorization = { authorization: `Bearer ${token}` };

  const verify = async ({ id, order }: Created) => {
    const answer = await client(
      { method: 'POST', url: `${payments}/${id}/verify`, headers: authorization },
      // Once: the outcome comes by webhook anyway.
      { what: 'verify', order, until: 0, takes: (status) => status === 200, asksGateway: true },
    );
    const status = answer && StatusBody.parse(JSON.parse(answer.text)).status;
    if (status) journal.show(order, status, 'verify');
    return status;
  };

  return {
    verify,

    /** Undefined where it did not work for two minutes. */
    async create(wish: Wish): Promise<Created | undefined> {
      const { order, amount, currency, gateway, expiresInSeconds } = wish;
      const headers = { ...authorization, 'content-type': 'application/json' };
      const wanted = {
        ...{ order_id: order, amount, currency, gateway: gateway.slug },
        ...{ expires_in: expiresInSeconds, metadata: { order, story: wish.story } },
      };
      const answer = await client(
        {
          ...{ method: 'POST', url: payments, body: JSON.stringify(wanted) },
          headers: { ...headers, 'idempotency-key': order },
        },
        {
          ...{ what: 'create', order, until: Date.now() + createPatienceMs },
          takes: (status) => status === 201,
        },
      );
      if (!answer) return undefined;
      const { payment_id: id, expires_at } = CreatedBody.parse(JSON.parse(answer.text));
      return { ...wish, id, expiresAt: Date.parse(expires_at) };
    },

    async verifyUntilEnded(payment: Created): Promise<void> {
      for (const until = Date.now() + verifyPatienceMs; Date.now() < until;) {
        if (isTerminal(await verify(payment))) return;
        await sleep(verifyEveryMs);
      }
    },
  };
};
export type Application = ReturnType<typeof createApplication>;
