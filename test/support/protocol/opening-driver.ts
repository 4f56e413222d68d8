import { type Breaker, createBreaker } from '../../../activities/breaker.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { OpenResult } from '../../../gateways/gateway.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import type { PaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { createWorkflowOutbox } from '../../../postgres/payments/workflow-outbox.ts';
import type { Opened } from '../../../protocol/opening.ts';
import { aPayment } from '../data/payments.ts';
import { noAnswer, type Records, withOutcome } from '../data/records.ts';
import { aGateway, silence, withGateway } from '../service/scripted-gateway.ts';
import { type Driver, stopAfter } from './driver.ts';

export interface OpeningCodeFault {
  outcomes?: (outcomes: PaymentOutcomes, records: Records) => PaymentOutcomes;
  breaker?: (breaker: Breaker, records: Records) => Breaker;
  /** The code takes silence for a refusal. */
  silenceRefuses?: boolean;
}

interface Setting {
  candidates: 1 | 2;
  fault?: OpeningCodeFault | undefined;
}

const refused = { result: 'refused', code: null, message: null } as const;

/** Two creates with one key, `openPayment`, `expirePayment` at a payment without a reference, and the payer. */
export const createOpeningDriver = async (
  records: Records,
  start: Opened,
  { candidates, fault = {} }: Setting,
): Promise<Driver<Opened>> => {
  const { sql, payments } = records;
  const key = `key-${crypto.randomUUID()}`;
  const slugs = { A: `a-${key}`, B: `b-${key}` };
  const nameOf = (slug: string) => (slug === slugs.B ? 'B' : 'A');
  const gateways = createGateways(sql);
  for (const slug of Object.values(slugs))
    await gateways.insert({ slug, driver: 'sandbox', kind: 'sandbox', credentials: null });
  const outbox = createWorkflowOutbox(sql);
  const outcomes = fault.outcomes?.(records.paymentOutcomes, records) ?? records.paymentOutcomes;
  let payment: Payment | undefined;
  const openings = { A: 0, B: 0 };
  let wasAsked = false;
  let payer: Opened['payer'] = 'none';
  let copied = {
    gateway: slugs.A,
    gateway_reference: null,
    gateway_redirect: null,
    checkout_at: null,
  };

  const create = async () => {
    const created = aPayment({ orderId: key, gateway: slugs.A });
    const location = `/api/v1/payments/${created.id}`;
    const idempotency = {
      route: 'POST /payments',
      key,
      fingerprint: Buffer.from(key),
      status: 201,
    };
    const stored = { ...idempotency, location, body: '{}', keptFor: '25 hours' };
    const several = { candidates: candidates === 1 ? null : [slugs.A, slugs.B] };
    if ((await payments.insert(created, stored, several)).isInserted) payment = created;
  };
  const idOf = (): string => payment?.id ?? '';
  const open = (name: 'A' | 'B'): Opened['payer'] => {
    const opening = openings[name] === 0 ? 1 : 2;
    openings[name] = opening;
    return `${name}${opening}`;
  };

  /** A try begins at B where A was silent just now. */
  const beginAt = async (step: string) => {
    const until = step.endsWith(', B)') ? new Date(Date.now() + 3_600_000) : null;
    await sql`update gateways set silent_until = ${until} where slug = ${slugs.A}`;
  };

  if (start.payments === 1) await create();
  return {
    tryOf(step) {
      if (/^(expirePayment reads|finalize onlyIfUnsent: expired|crash \(expire)/.test(step))
        return 'expire';
      return /gateway\.open|recordOpened|onlyIfUnsent: failed|^crash \([ab]\)/.test(step)
        ? /\(([ab])/.exec(step)?.[1]
        : undefined;
    },
    async run(name, _, stop, step) {
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
      let [asked, wasSilent] = [0, false];
      /** The call of a step, and whether the try goes on after it without another step. */
      const answer = async (slug: string, current: string): Promise<OpenResult> => {
        const gateway = nameOf(slug);
        const isLast = asked === candidates;
        if (candidates === 2 && !current.endsWith(`, ${gateway})`))
          throw new Error(`${gateway} was asked and not that of "${current}"`);
        if (current.startsWith('gateway.open (')) {
          const opening = open(gateway);
          const redirect = { method: 'GET', url: `https://gateway.example/${opening}` } as const;
          return { result: 'opened', reference: `${opening}:${id}`, redirect };
        }
        if (current.startsWith('gateway.open: refused')) return refused;
        if (current.startsWith('lost answer')) open(gateway);
        if (!isLast) wasSilent = true;
        return fault.silenceRefuses ? refused : silence();
      };
      const goesOn = (current: string) =>
        asked === candidates &&
        !current.startsWith('gateway.open (') &&
        (wasSilent || !current.startsWith('gateway.open: refused'));
      await beginAt(step);
      const breaker = createBreaker(gateways);
      const { openPayment } = withGateway(
        records,
        {},
        {
          paymentOutcomes: outcomes,
          breaker: fault.breaker?.(breaker, records) ?? breaker,
          gatewayOf: (account, listener) =>
            aGateway({
              async open() {
                asked += 1;
                return stop((current) => answer(account.gateway, current), goesOn);
              },
            }).gatewayOf(account, listener),
        },
      );
      return openPayment({ id, afterDeadline: false });
    },
    async happen(step) {
      const id = idOf();
      if (step.startsWith('payments.insert')) await create();
      if (step.endsWith('outbox.delete')) await outbox.delete([id]);
      if (step === 'payer: sendToGateway') {
        const [sent] = await payments.sendToGateway([id], new Date());
        payer = (sent?.redirect?.url.split('/').at(-1) ?? 'none') as typeof payer;
      }
      if (step === 'payer returns: recordLostCheckout')
        await payments.recordLostCheckout(id, new Date());
      if (step === 'expirePayment: gateway.verify' && payment) {
        const { ended, event } = withOutcome(payment, 'expired');
        wasAsked = (await records.paymentOutcomes.finalize(ended, event, noAnswer)) === 'done';
      }
      if (step === 'replica or backup copies')
        [copied = copied] = await sql<(typeof copied)[]>`
          select gateway, gateway_reference, gateway_redirect::text, checkout_at from payments where id = ${id}`;
      if (step === 'failover or restore')
        await sql.begin(async (tx) => {
          await tx`set local session_replication_role = replica`;
          await tx`
            update payments set gateway = ${copied.gateway}, gateway_reference = ${copied.gateway_reference},
              gateway_redirect = ${copied.gateway_redirect}::text::jsonb, checkout_at = ${copied.checkout_at}
            where id = ${id}`;
        });
    },
    async observe() {
      const rows = await sql<
        { status: string; gateway: string; reference: string | null; sent: boolean }[]
      >`
        select status, gateway, gateway_reference as reference, checkout_at is not null as sent
        from payments where order_id = ${key}`;
      const [row] = rows;
      const ended = wasAsked ? 'gateway_is_asked' : 'ended_unasked';
      const waiting = await sql`select from workflow_outbox where payment_id = ${idOf()}`;
      return {
        payments: rows.length,
        status: row === undefined || row.status === 'pending' ? 'pending' : ended,
        reference: (row?.reference?.split(':')[0] ?? 'none') as Opened['reference'],
        checkout: row?.sent ?? false,
        ...(candidates === 1 && { outbox: waiting.length > 0 }),
        gateway: nameOf(row?.gateway ?? slugs.A),
        openings_A: openings.A,
        openings_B: openings.B,
        payer,
      };
    },
  };
};
