import { createEvent, type EventKind } from '../../../contract/event.ts';
import type { GatewayKind } from '../../../contract/gateway-account.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { TerminalStatus } from '../../../contract/status.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways/gateways.ts';
import { createPayments } from '../../../postgres/payments/payments.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { aDatabase } from './database.ts';
import { aPayment } from './payments.ts';

/** The options of `finalize` for an end without an answer of the gateway. */
export const noAnswer = {
  providerMessage: { code: null, message: null },
  onlyIfUnsent: false,
  exchanges: [],
};

/** The payment with an outcome, and its event: the arguments of `finalize`. */
export const withOutcome = (payment: Payment, status: TerminalStatus, endedAt = new Date()) => {
  const ended: Payment = {
    ...payment,
    status,
    updatedAt: endedAt,
    paidAt: status === 'paid' ? endedAt : null,
    failureCode: status === 'failed' ? 'card_declined' : null,
    cancelledBy: status === 'cancelled' ? 'payer' : null,
    trackingCode: status === 'paid' ? 'T-1' : null,
  };
  return { ended, event: createEvent(ended, endedAt) };
};

/**
 * A database with a gateway, by default of a sandbox account, and two applications: `shop`, and `quiet` without a webhook URL. Its methods
 * write payments of any age and state.
 */
export const startRecords = async ({
  gatewayKind = 'sandbox',
}: { gatewayKind?: GatewayKind } = {}) => {
  const database = await aDatabase();
  const { sql } = database;
  const payments = createPayments(sql);
  const paymentOutcomes = createPaymentOutcomes(sql);
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname not in ('migrations', 'audit_chain', 'upkeep')`;
  const begin = async () => {
    await createGateways(sql).insert({ ...sandboxAccount, kind: gatewayKind });
    for (const [application, webhookUrl] of [
      ['shop', 'https://shop.example/webhooks'],
      ['quiet', null],
    ] as const)
      await createApplications(sql).insert({
        slug: application,
        defaultGateway: sandboxAccount.slug,
        callbackUrls: ['https://shop.example/return'],
        webhookUrl,
      });
  };
  await begin();

  const records = {
    ...database,
    payments,
    paymentOutcomes,
    /** Makes it as it was at first, for the next test: another database would take ten times as long. */
    async beginAgain() {
      // Without the checks of each row's references, and the triggers that keep some tables append-only.
      await sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        for (const { name } of tables) await tx`delete from ${tx(name)}`;
      });
      await begin();
    },
    /** A gateway of this driver, by default of its name and of a live account. */
    addGateway: (
      driver: string,
      { slug = driver, kind = 'live' }: { slug?: string; kind?: GatewayKind } = {},
    ) => createGateways(sql).insert({ slug, driver, kind, credentials: null }),
    async created(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = aPayment(fields);
      await payments.insert(payment, null);
      return payment;
    },
    /** A payment that is open at its gateway under the reference `REF_<id>`. */
    async opened(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = await records.created(fields);
      const redirect = { method: 'GET', url: `https://gateway.example/${payment.id}` } as const;
      const reference = `REF_${payment.id}`;
      await paymentOutcomes.recordOpened(payment.id, { reference, redirect, exchanges: [] });
      return payment;
    },
    /** A payment whose payer was sent to the gateway. */
    async sent(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = await records.opened(fields);
      await payments.sendToGateway([payment.id], payment.createdAt);
      return payment;
    },
    /** Records an inquiry; by default the gateway answers that the payer has not decided. */
    inquired: (
      id: string,
      result: Partial<Parameters<typeof paymentOutcomes.recordInquiry>[1]> = {},
    ) => {
      const waiting = {
        answer: 'waiting' as const,
        isTwoStep: false,
        becomesProcessing: false,
        now: new Date(),
        exchanges: [],
      };
      return paymentOutcomes.recordInquiry(id, { ...waiting, ...result });
    },
    async ended(status: TerminalStatus, fields: Partial<Payment> = {}): Promise<Payment> {
      const { ended, event } = withOutcome(await records.sent(fields), status);
      await paymentOutcomes.finalize(ended, event, noAnswer);
      return ended;
    },
    /** The id of a paid payment, all attempts of whose webhook have failed. */
    async exhausted(fields: Partial<Payment> = {}): Promise<string> {
      const { id } = await records.ended('paid', fields);
      await sql`
        update deliveries set status = 'exhausted', exhausted_by_run = 'r', next_attempt_at = null
        where payment_id = ${id}`;
      return id;
    },
    /** A live payment that ended, and whose next delivery attempt is overdue for this many minutes. */
    async deliveryOverdue(minutes: number): Promise<string> {
      const { id } = await records.ended('paid');
      await sql`
        update deliveries set next_attempt_at = now() - ${`${minutes} minutes`}::interval, test = false
        where payment_id = ${id}`;
      return id;
    },
    /** All rows of a payment, to check that nothing changes. Without its count of late searches. */
    async snapshot(id: string): Promise<unknown> {
      const [row] = await sql`
        select to_jsonb(p) - 'late_searches' - 'late_search_at' as payment, to_jsonb(e) as event, to_jsonb(d) as delivery
        from payments p
        left join events e on e.payment_id = p.id
        left join deliveries d on d.event_id = e.id
        where p.id = ${id}`;
      return row;
    },
    listEvents: (id: string) => sql<{ id: string; kind: EventKind; body: Buffer }[]>`
      select id, kind, body from events where payment_id = ${id}`,
  };
  return records;
};
export type Records = Awaited<ReturnType<typeof startRecords>>;
