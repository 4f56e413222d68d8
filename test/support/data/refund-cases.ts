import { createBulkhead } from '../../../activities/bulkhead.ts';
import { createRefundActivities } from '../../../activities/refund-payment.ts';
import { refundId } from '../../../contract/ids.ts';
import type { Refund } from '../../../contract/refund.ts';
import type { RefundFailureCode } from '../../../contract/refund-failure-codes.ts';
import type { KnownRefund, RefundAnswer } from '../../../gateways/gateway.ts';
import { createLatePayments } from '../../../postgres/payments/late-payments.ts';
import { createRefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createRefunds, type NewRefund } from '../../../postgres/refunds/refunds.ts';
import { startRecords, type Records } from './records.ts';
import {
  aGateway,
  inTurn,
  publicBaseUrl,
  readableLogger,
  type silence,
} from '../service/scripted-gateway.ts';

/** One driver that carries our id and takes a key, and one that does neither. */
const drivers = ['stripe', 'zarinpal'] as const;

/** Records with a live gateway of each driver, and an application that gets the events of refunds. */
export const startRefundRecords = async (): Promise<Records> => {
  const records = await startRecords();
  for (const driver of drivers) await records.addGateway(driver);
  await records.sql`update applications set refund_events = true where slug = 'shop'`;
  return records;
};

let count = 0;
/** A refund as the API inserts it. */
export const aRefund = (
  payment: { id: string; application: string; test: boolean },
  fields: Partial<NewRefund> = {},
): NewRefund => {
  count += 1;
  return {
    id: refundId(['test', String(count)]),
    paymentId: payment.id,
    application: payment.application,
    test: payment.test,
    amount: 500,
    method: 'refund',
    requestedBy: 'application',
    reason: null,
    reference: null,
    metadata: '{}',
    fingerprint: Buffer.from('fingerprint'),
    onlyIfLeft: null,
    oneAtATime: false,
    ...(fields.requestedBy === 'admin' && { askedBy: { actor: 'ada', via: 'cli' } }),
    createdAt: new Date(),
    ...fields,
  };
};

/** The end of a refund, of which the gateway says nothing more. */
export const refundEnd = (failureCode: RefundFailureCode | null = null) => ({
  status: failureCode === null ? ('succeeded' as const) : ('failed' as const),
  failureCode,
  providerMessage: { code: null, message: null },
  gatewayReference: null,
  bankReference: null,
});

/** The answer of the gateway about a refund. */
export const known = (fields: Partial<KnownRefund> = {}): KnownRefund => ({
  reference: 're_1',
  refundId: null,
  amount: 500,
  currency: 'EUR',
  state: 'succeeded',
  failureCode: null,
  code: null,
  message: null,
  bankReference: null,
  expectedAt: null,
  createdAt: null,
  ...fields,
});
export const accepted = (fields: Partial<KnownRefund> = {}): RefundAnswer => ({
  result: 'accepted',
  refund: known(fields),
});

type Deps = Parameters<typeof createRefundActivities>[0];
/** The activities of refunds with these collaborators. */
export const activitiesWith = (records: Records, deps: Pick<Deps, 'gatewayOf'> & Partial<Deps>) =>
  createRefundActivities({
    paymentOutcomes: records.paymentOutcomes,
    refundOutcomes: createRefundOutcomes(records.sql),
    latePayments: createLatePayments(records.sql),
    gatewayBulkhead: createBulkhead({ perOwner: 5 }),
    workflows: { restart: async () => {} },
    publicBaseUrl,
    now: () => new Date(),
    logger: readableLogger().logger,
    ...deps,
  });

/** The activities of refunds, with a scripted gateway. */
export const activitiesOf = (records: Records, script: Parameters<typeof aGateway>[0]) =>
  activitiesWith(records, { gatewayOf: aGateway(script).gatewayOf });

export interface RefundCase {
  driver?: (typeof drivers)[number];
  fields?: Partial<NewRefund>;
  /** The lists of the gateway, in turn. */
  refunds: (KnownRefund[] | typeof silence)[];
  /** Its answers to a refund. Absent: it must not be told. */
  refund?: (RefundAnswer | typeof silence)[];
}

/** A refund of 500 out of 1,250, with a scripted gateway. */
export const refundCase = async (records: Records, given: RefundCase) => {
  const { driver = 'stripe', fields, refunds: lists, refund: answers = [] } = given;
  const { sql } = records;
  const payment = await records.ended('paid', { gateway: driver });
  const refunds = createRefunds(sql);
  const inserted = await refunds.insert(aRefund(payment, fields));
  if (typeof inserted !== 'object') throw new Error('The refund was not inserted');
  const { id } = inserted;
  // The script knows the refund's id only now.
  const named = (each: KnownRefund) =>
    each.refundId === 'ours' ? { ...each, refundId: id } : each;
  const list = inTurn(...lists);
  const answer = inTurn(...answers);
  const { gatewayOf, calls } = aGateway({
    refunds: async () => (await list()).map(named),
    refund: async () => {
      const said = await answer();
      return said.result === 'accepted' ? { ...said, refund: named(said.refund) } : said;
    },
  });
  const { logger, alerts } = readableLogger();
  let nowMs = Date.now();
  const started: string[] = [];
  const { refundPayment } = activitiesWith(records, {
    gatewayOf,
    workflows: { restart: async (start) => void started.push(start.refundId ?? start.id) },
    now: () => new Date(nowMs),
    logger,
  });
  return {
    id,
    payment,
    refunds,
    calls,
    alerts,
    started,
    /** One try. @param delivering the events whose deliveries the workflow has begun */
    work: (delivering: readonly string[] = []) =>
      refundPayment({ id, paymentId: payment.id, delivering }),
    /** One try. @returns what it failed with, or `ended` */
    tryOnce: () =>
      refundPayment({ id, paymentId: payment.id }).then(
        ({ againInMs }) => (againInMs === undefined ? 'ended' : 'RefundPending'),
        (error: unknown) => (error as { type?: string }).type ?? String(error),
      ),
    later(ms: number) {
      nowMs += ms;
    },
    get: async (): Promise<Refund & { timesTold: number }> => {
      const found = await createRefundOutcomes(sql).get(id);
      if (!found) throw new Error('The refund is gone');
      return found;
    },
    /** Of all refunds of the payment. */
    sums: async () => {
      const [row] = await sql<{ refunded: number; pending: number }[]>`
        select amount_refunded as refunded, amount_refund_pending as pending
        from payments where id = ${payment.id}`;
      return row;
    },
    /** The kinds of the events, without the payment's. */
    events: async () => {
      const rows = await sql<{ kind: string }[]>`
        select e.kind from events e join deliveries d on d.event_id = e.id
        where e.payment_id = ${payment.id} and e.subject <> e.payment_id order by d.recorded_at`;
      return rows.map(({ kind }) => kind);
    },
  };
};
