import type { Client } from './client.ts';
import { gatewayOf, referenceOf } from './fallbacks.ts';
import type { Decision } from './gateways.ts';
import type { Journal } from './journal.ts';
import type { Notifications } from './notifications.ts';
import type { CreatedPayment } from './scenarios.ts';

export interface Deps {
  client: Client;
  journal: Journal;
  apiUrl: string;
  notifications: Pick<Notifications, 'send'>;
}

/** A payer reloads a page that does not work for this long. */
const patienceMs = 45_000;

/** The payers' browsers, on our pages and on the gateways' pages. */
export const createPayers = ({ client, journal, apiUrl, notifications }: Deps) => {
  /** Records the status in the address that a browser is sent to. */
  const recordStatus = (order: string, where: string, location: string) => {
    const status = URL.parse(location)?.searchParams.get('status');
    if (status) journal.recordStatus(order, status, where);
  };
  return {
    /** Returns the gateway's name for the payment, from the address that the payer is sent to. */
    async checkout(payment: CreatedPayment): Promise<string | undefined> {
      const { id, order, expiresAt } = payment;
      const response = await client(
        { method: 'GET', url: `${apiUrl}/api/v1/payments/${id}/checkout` },
        { name: 'checkout', order, until: expiresAt + patienceMs, expects: [302, 303] },
      );
      if (response?.status === 303) recordStatus(order, 'checkout', response.location);
      if (response?.status !== 302) return undefined;
      payment.pages.add(response.location);
      payment.gateway = gatewayOf(payment, response.location);
      const reference = referenceOf(response.location);
      payment.reference = reference;
      return reference;
    },

    decide(
      payment: CreatedPayment,
      {
        reference,
        decision,
        amount,
      }: { reference: string; decision: Decision['decision']; amount?: number },
    ): void {
      const { order, gateway } = payment;
      const isInTime = gateway.decide(reference, decision, amount) !== undefined;
      const text = isInTime ? decision : `too late, not ${decision}`;
      journal.note(order, `payer at ${gateway.slug}: ${text}`);
      notifications.send(payment, reference);
    },

    async comeBack({ gateway, order }: CreatedPayment, reference: string): Promise<void> {
      const { fields, ...back } = gateway.provider.back(reference);
      if (gateway.backIsCancel) gateway.decide(reference, 'cancelled');
      const response = await client(
        { ...back, ...(fields && { body: new URLSearchParams(fields) }) },
        { name: 'return', order, until: Date.now() + patienceMs, expects: [303] },
      );
      if (response) recordStatus(order, 'return', response.location);
    },
  };
};
export type Payers = ReturnType<typeof createPayers>;
