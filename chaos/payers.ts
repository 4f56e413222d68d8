import type { Client } from './client.ts';
import type { Decision } from './gateways.ts';
import type { Journal } from './journal.ts';
import type { Notices } from './notices.ts';
import type { Created } from './wishes.ts';

export interface Deps {
  client: Client;
  journal: Journal;
  apiUrl: string;
  notices: Pick<Notices, 'about'>;
}

/** How long a payer presses again at a page that does not work. */
const patienceMs = 45_000;

/** The payers' browsers: at our pages, and at the gateways' own. */
export const createPayers = ({ client, journal, apiUrl, notices }: Deps) => {
  /** Tells what a browser is shown of the payment where it is sent. */
  const shown = (order: string, where: string, location: string) => {
    const status = URL.parse(location)?.searchParams.get('status');
    if (status) journal.show(order, status, where);
  };
  return {
    /** @returns the gateway's name for the payment, in the address the payer is sent to */
    async toGateway(payment: Created): Promise<string | undefined> {
      const { id, order, expiresAt } = payment;
      const answer = await client(
        { method: 'GET', url: `${apiUrl}/api/v1/payments/${id}/checkout` },
        {
          ...{ what: 'checkout', order, until: expiresAt + patienceMs },
          takes: (status) => status === 302 || status === 303,
        },
      );
      if (answer?.status === 303) shown(order, 'checkout', answer.location);
      const reference = answer?.status === 302 ? answer.location.split('/').at(-1) : undefined;
      if (reference !== undefined) payment.reference = reference;
      return reference;
    },

    decide(
      payment: Created,
      { reference, what, askFor }: { reference: string; what: Decision['what']; askFor?: number },
    ): void {
      const { order, gateway } = payment;
      const decision = gateway.decide(reference, what, askFor);
      journal.note(order, `payer at ${gateway.slug}: ${decision ? what : `too late, not ${what}`}`);
      notices.about(payment, reference);
    },

    async comeBack({ gateway, order }: Created, reference: string): Promise<void> {
      const { fields, ...back } = gateway.provider.back(reference);
      if (gateway.backIsCancel) gateway.decide(reference, 'cancelled');
      const answer = await client(
        { ...back, ...(fields && { body: new URLSearchParams(fields) }) },
        {
          ...{ what: 'return', order, until: Date.now() + patienceMs },
          takes: (status) => status === 303,
        },
      );
      if (answer) shown(order, 'return', answer.location);
    },
  };
};
export type Payers = ReturnType<typeof createPayers>;
