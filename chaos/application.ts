import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from './client.ts';
import type { Journal } from './journal.ts';
import {
  type CreatedPayment,
  isTerminal,
  type RefundWish,
  type RefusedScenario,
  type Scenario,
} from './scenarios.ts';

const CreateResponse = z.object({
  payment_id: z.string(),
  expires_at: z.iso.datetime({ offset: true }),
});
const RefundResponse = z.object({ refund_id: z.string() });
const RefusedResponse = z.object({
  error: z.object({
    code: z.literal('ORDER_ALREADY_PAID'),
    details: z.object({ payment_id: z.string() }),
  }),
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

  const askForRefund = async (
    { id, order }: CreatedPayment,
    { key, amount, expects }: { key: string; amount?: number; expects: readonly number[] },
  ): Promise<void> => {
    const response = await client(
      {
        method: 'POST',
        url: `${payments}/${id}/refunds`,
        headers: {
          ...authorization,
          'content-type': 'application/json',
          'idempotency-key': `${order}-${key}`,
        },
        body: JSON.stringify(amount === undefined ? {} : { amount }),
      },
      { name: 'refund', order, until: Date.now() + createTimeoutMs, expects },
    );
    if (response?.status !== 201) return;
    journal.recordRefund(order, RefundResponse.parse(JSON.parse(response.text)).refund_id);
  };

  const wishes: Record<RefundWish, (payment: CreatedPayment) => Promise<unknown>> = {
    whole: (payment) =>
      Promise.all([1, 2].map(() => askForRefund(payment, { key: 'whole', expects: [201] }))),
    async parts(payment) {
      const half = Math.floor(payment.amount / 2);
      await Promise.all(
        ['one', 'two'].map((key) => askForRefund(payment, { key, amount: half, expects: [201] })),
      );
      await askForRefund(payment, { key: 'over', amount: payment.amount, expects: [422] });
    },
    rivals(payment) {
      const amount = Math.ceil(payment.amount * 0.6);
      return Promise.all(
        ['one', 'two', 'three'].map((key) =>
          askForRefund(payment, { key, amount, expects: [201, 422] }),
        ),
      );
    },
    async dashboard(payment) {
      const { gateway, reference = '', amount } = payment;
      gateway.refundAtDashboard?.(reference, Math.ceil(gateway.toGatewayAmount(amount) / 3));
      await askForRefund(payment, { key: 'all', expects: [201] });
    },
  };

  return {
    verify,

    /** Calls the payment off. Paid wins. */
    async cancel({ id, order }: CreatedPayment): Promise<void> {
      const response = await client(
        { method: 'POST', url: `${payments}/${id}/cancel`, headers: authorization },
        {
          name: 'cancel',
          order,
          until: Date.now() + verifyTimeoutMs,
          expects: [200, 409],
          callsGateway: true,
        },
      );
      if (response?.status === 200) journal.recordStatus(order, 'cancelled', 'cancel');
    },

    /** Gives the money back, once the payment is paid. */
    async refund(payment: CreatedPayment): Promise<void> {
      if (!payment.refund) return;
      for (const until = Date.now() + verifyTimeoutMs; Date.now() < until;) {
        const status = await verify(payment);
        if (status === 'paid') return void (await wishes[payment.refund](payment));
        if (isTerminal(status)) return;
        await sleep(verifyEveryMs);
      }
    },

    /** Undefined when it did not succeed within two minutes. */
    async create(scenario: Scenario): Promise<CreatedPayment | RefusedScenario | undefined> {
      const { order, orderId, amount, currency, named, expiresInSeconds, behaviour } = scenario;
      const body = {
        order_id: orderId,
        amount,
        currency,
        ...named,
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
        {
          name: 'create',
          order,
          until: Date.now() + createTimeoutMs,
          expects: order === orderId ? [201] : [201, 409],
        },
      );
      if (!response) return undefined;
      if (response.status === 409) {
        const { error } = RefusedResponse.parse(JSON.parse(response.text));
        return { ...scenario, paidBy: error.details.payment_id };
      }
      const { payment_id: id, expires_at } = CreateResponse.parse(JSON.parse(response.text));
      return {
        ...scenario,
        id,
        createdAt: Date.now(),
        pages: new Set(),
        expiresAt: Date.parse(expires_at),
      };
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
