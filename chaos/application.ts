import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from './client.ts';
import type { Journal } from './journal.ts';
import { type CreatedPayment, isTerminal, type Scenario } from './scenarios.ts';

const CreateResponse = z.object({
  payment_id: z.string(),
  expires_at: z.iso.datetime({ offset: true }),
});
const StatusResponse = z.object({ status: z.string() });

export interface Deps {
  client: Client;
  journal: Journal;
  apiUrl: string;
  token: string;
}

const createTimeoutMs = 120_000;
const verifyTimeoutMs = 45_000;
/** Within 3 s the service answers from its record. */
const verifyEveryMs = 3_000;

/** The application, which uses the service over HTTP alone. */
export const createApplication = ({ client, journal, apiUrl, token }: Deps) => {
  const payments = `${apiUrl}/api/v1/payments`;
  const authorization = { authorization: `Bearer ${token}` };

  const verify = async ({ id, order }: CreatedPayment) => {
    const response = await client(
      { method: 'POST', url: `${payments}/${id}/verify`, headers: authorization },
      // Not repeated, because the outcome comes by webhook anyway.
      { name: 'verify', order, until: 0, expects: [200], callsGateway: true },
    );
    const status = response && StatusResponse.parse(JSON.parse(response.text)).status;
    if (status) journal.recordStatus(order, status, 'verify');
    return status;
  };

  return {
    verify,

    /** Undefined when it did not succeed within two minutes. */
    async create(scenario: Scenario): Promise<CreatedPayment | undefined> {
      const { order, amount, currency, gateway, expiresInSeconds, behaviour } = scenario;
      const body = {
        order_id: order,
        amount,
        currency,
        gateway: gateway.slug,
        expires_in: expiresInSeconds,
        metadata: { order, behaviour },
      };
      const response = await client(
        {
          method: 'POST',
          url: payments,
          headers: {
            ...authorization,
            'content-type': 'application/json',
            'idempotency-key': order,
          },
          body: JSON.stringify(body),
        },
        { name: 'create', order, until: Date.now() + createTimeoutMs, expects: [201] },
      );
      if (!response) return undefined;
      const { payment_id: id, expires_at } = CreateResponse.parse(JSON.parse(response.text));
      return { ...scenario, id, expiresAt: Date.parse(expires_at) };
    },

    async verifyUntilEnded(payment: CreatedPayment): Promise<void> {
      for (const until = Date.now() + verifyTimeoutMs; Date.now() < until;) {
        if (isTerminal(await verify(payment))) return;
        await sleep(verifyEveryMs);
      }
    },
  };
};
export type Application = ReturnType<typeof createApplication>;
