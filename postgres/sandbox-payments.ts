import { randomBytes } from 'node:crypto';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { Queries } from './driver/sql.ts';

/** `open`, then the payer's choice, then `verified` when the service confirms a paid payment. */
export type SandboxState = 'open' | 'paid' | 'verified' | 'refused' | 'cancelled' | 'expired';

/** A payment in the sandbox gateway's own records. */
export interface SandboxPayment {
  reference: string;
  paymentId: string;
  amount: number;
  currency: string;
  returnUrl: string;
  state: SandboxState;
  refusal: FailureCode | null;
  trackingCode: string | null;
  cardPanMasked: string | null;
  /** A test asked for a gateway that does not answer for a while. */
  isSilent: boolean;
  /** A test asked for a first confirmation that is lost. */
  isLost: boolean;
}

/** What the payer does at the gateway, and how the gateway then behaves in a test. */
export interface SandboxChoice {
  state: 'paid' | 'refused' | 'cancelled';
  refusal: FailureCode | null;
  /** The gateway takes the money although it has closed the payment. */
  late?: boolean;
  /** Minor units that the gateway confirms beside the amount. */
  extraAmount?: number;
  silentSeconds?: number;
  loseConfirmation?: boolean;
}

export const createSandboxPayments = (sql: Queries) => {
  const isSilent = sql`coalesce(silent_until > now(), false)`;
  const columns = sql`
    reference, payment_id as "paymentId", amount, currency, return_url as "returnUrl", state,
    refusal, tracking_code as "trackingCode", card_pan_masked as "cardPanMasked",
    ${isSilent} as "isSilent", lose_confirmation and confirmations = 1 as "isLost"`;
  return {
    /** Opening a payment twice returns the same reference. */
    async open(
      payment: Pick<SandboxPayment, 'paymentId' | 'amount' | 'currency' | 'returnUrl'>,
    ): Promise<string> {
      const [row] = await sql<{ reference: string }[]>`
        insert into sandbox_payments (reference, payment_id, amount, currency, return_url, state)
        values (${`SBX${randomBytes(12).toString('hex')}`}, ${payment.paymentId}, ${payment.amount},
          ${payment.currency}, ${payment.returnUrl}, 'open')
        on conflict (payment_id) do update set return_url = excluded.return_url
        returning reference`;
      if (!row) throw new Error('The sandbox gateway returned no reference');
      return row.reference;
    },

    async get(reference: string): Promise<SandboxPayment | undefined> {
      const [row] = await sql<SandboxPayment[]>`
        select ${columns} from sandbox_payments where reference = ${reference}`;
      return row;
    },

    async getByPayment(paymentId: string): Promise<SandboxPayment | undefined> {
      const [row] = await sql<SandboxPayment[]>`
        select ${columns} from sandbox_payments where payment_id = ${paymentId}`;
      return row;
    },

    /**
     * Records the payer's choice if the payment is still open.
     * @returns undefined if the gateway does not have the payment
     */
    async choose(
      paymentId: string,
      choice: SandboxChoice,
    ): Promise<{ isFirstChoice: boolean; returnUrl: string } | undefined> {
      const paid = choice.state === 'paid';
      const from = choice.late ? ['open', 'expired'] : ['open'];
      const [row] = await sql<{ isFirstChoice: boolean; returnUrl: string }[]>`
        with chosen as (
          update sandbox_payments set state = ${choice.state}, refusal = ${choice.refusal},
            tracking_code = ${paid ? String(randomBytes(6).readUIntBE(0, 6)).padStart(12, '0') : null},
            card_pan_masked = ${paid ? '502229******1234' : null},
            amount = amount + ${choice.extraAmount ?? 0}::bigint,
            silent_until = now() + make_interval(secs => ${choice.silentSeconds ?? 0}::int),
            lose_confirmation = ${choice.loseConfirmation ?? false}
          where payment_id = ${paymentId} and state = any(${from}::text[])
          returning payment_id)
        select return_url as "returnUrl", exists (select from chosen) as "isFirstChoice"
        from sandbox_payments where payment_id = ${paymentId}`;
      return row;
    },

    /** Confirms a paid payment, as two-step gateways require. @returns the payment after that */
    async verify(reference: string): Promise<SandboxPayment | undefined> {
      const [row] = await sql<SandboxPayment[]>`
        update sandbox_payments set verifications = verifications + 1,
          confirmations = confirmations
            + case when state in ('paid', 'verified') and not ${isSilent} then 1 else 0 end,
          state = case when state = 'paid' and not ${isSilent} then 'verified' else state end
        where reference = ${reference}
        returning ${columns}`;
      return row;
    },

    /** Makes an open payment unpayable. False if the payment is no longer open. */
    async expire(reference: string): Promise<boolean> {
      const { count } = await sql`
        update sandbox_payments set state = 'expired' where reference = ${reference} and state = 'open'`;
      return count === 1;
    },

    /** The same, of a test's payment. */
    async expireByPayment(paymentId: string): Promise<void> {
      await sql`
        update sandbox_payments set state = 'expired'
        where payment_id = ${paymentId} and state = 'open'`;
    },
  };
};
export type SandboxPayments = ReturnType<typeof createSandboxPayments>;
