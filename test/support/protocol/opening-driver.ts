import type { Payment } from '../../../contract/payment.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createWorkflowOutbox } from '../../../postgres/workflow-outbox.ts';
import type { Opened } from '../../../protocol/opening.ts';
import { aPayment } from '../data/payments.ts';
import { noAnswer, type Records, withOutcome } from '../data/records.ts';
import { silence, withGateway } from '../service/scripted-gateway.ts';
import { type Driver, stopAfter } from './driver.ts';

export type OpeningCodeFault = (outcomes: PaymentOutcomes, records: Records) => PaymentOutcomes;

/** Two creates with one key, `openPayment`, `expirePayment` at a payment without a reference, and the payer. */
export const createOpeningDriver = async (
  records: Records,
  fault: OpeningCodeFault = (outcomes) => outcomes,
): Promise<Driver<Opened>> => {
  const { sql, payments } = records;
  const key = `key-${crypto.randomUUID()}`;
  const outbox = createWorkflowOutbox(sql);
  const outcomes = fault(records.paymentOutcomes, records);
  let payment: Payment | undefined;
  let openings = 0;
  let wasAsked = false;
  let payer: Opened['payer'] = 'none';
  let copied = { gateway_reference: null, gateway_redirect: null, checkout_at: null };

  const create = async () => {
    const created = aPayment({ orderId: key });
    const location = `/api/v1/payments/${created.id}`;
    const idempotency = {
      route: 'POST /payments',
      key,
      fingerprint: Buffer.from(key),
      status: 201,
    };
    const stored = { ...idempotency, location, body: '{}', keptFor: '25 hours' };
    if ((await payments.insert(created, stored)).isInserted) payment = created;
  };
  const idOf = (): string => payment?.id ?? '';
  const open = (): Opened['payer'] => {
    const opening = openings === 0 ? 'first' : 'second';
    openings = Math.min(openings + 1, 2);
    return opening;
  };

  return {
    tryOf(step) {
      if (/^(expirePayment reads|finalize onlyIfUnsent: expired|crash \(expire)/.test(step))
        return 'expire';
      return /gateway\.open|recordOpened|onlyIfUnsent: failed|^crash \([ab]\)/.test(step)
        ? step.at(-2)
        : undefined;
    },
    run(name, _, stop, step) {
      const id = idOf();
      if (name() === 'expire') {
        const get = stopAfter(stop, outcomes.get, (row) => row?.reference === null);
        const { expirePayment } = withGateway(
          records,
          {},
          { paymentOutcomes: { ...outcomes, get } },
        );
        return expirePayment({ id, grace: false, unreachable: false });
      }
      const { openPayment } = withGateway(
        records,
        {
          async open() {
            if (step.startsWith('lost answer')) {
              open();
              return silence();
            }
            return stop(async () => {
              if (step.startsWith('gateway.open: refused'))
                return { result: 'refused', code: null, message: null };
              const opening = open();
              const redirect = {
                method: 'GET',
                url: `https://gateway.example/${opening}`,
              } as const;
              return { result: 'opened', reference: `${opening}:${id}`, redirect };
            });
          },
        },
        { paymentOutcomes: outcomes },
      );
      return openPayment({ id, afterDeadline: false });
    },
    async happen(step) {
      const id = idOf();
      if (step.startsWith('payments.insert')) await create();
      if (step.endsWith('outbox.delete')) await outbox.delete([id]);
      if (step === 'payer: sendToGateway') {
        const sent = await payments.sendToGateway(id, new Date());
        payer = (sent?.redirect?.url.split('/').at(-1) ?? 'none') as typeof payer;
      }
      if (step === 'payer returns: recordLostCheckout')
        await payments.recordLostCheckout(id, new Date());
      if (step === 'expirePayment: gateway.verify' && payment) {
        const { ended, event } = withOutcome(payment, 'expired');
        wasAsked = await records.paymentOutcomes.finalize(ended, event, noAnswer);
      }
      if (step === 'replica or backup copies')
        [copied = copied] = await sql<(typeof copied)[]>`
          select gateway_reference, gateway_redirect::text, checkout_at from payments where id = ${id}`;
      if (step === 'failover or restore')
        await sql.begin(async (tx) => {
          await tx`set local session_replication_role = replica`;
          await tx`
            update payments set gateway_reference = ${copied.gateway_reference},
              gateway_redirect = ${copied.gateway_redirect}::text::jsonb, checkout_at = ${copied.checkout_at}
            where id = ${id}`;
        });
    },
    async observe() {
      const rows = await sql<{ status: string; reference: string | null; sent: boolean }[]>`
        select status, gateway_reference as reference, checkout_at is not null as sent
        from payments where order_id = ${key}`;
      const [row] = rows;
      const ended = wasAsked ? 'gateway_is_asked' : 'ended_unasked';
      const waiting = await sql`select from workflow_outbox where payment_id = ${idOf()}`;
      return {
        payments: rows.length,
        status: row === undefined || row.status === 'pending' ? 'pending' : ended,
        reference: (row?.reference?.split(':')[0] ?? 'none') as Opened['reference'],
        checkout: row?.sent ?? false,
        outbox: waiting.length > 0,
        openings,
        payer,
      };
    },
  };
};
