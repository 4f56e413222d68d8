import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createBreaker } from '../../../activities/breaker.ts';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { createPaymentActivities, type Deps } from '../../../activities/payment.ts';
import type { AdapterOf } from '../../../gateways/adapters.ts';
import type { GatewayAdapter, GatewayPayment, GatewayStatus } from '../../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { observed } from '../../../gateways/observe.ts';
import { createLinkEnds } from '../../../postgres/links/ends.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import type { Records } from '../data/records.ts';

export const confirmed = (
  fields: Partial<Extract<GatewayStatus, { state: 'paid' }>> = {},
): GatewayStatus => ({
  state: 'paid',
  amount: 1250,
  currency: 'EUR',
  trackingCode: 'TRACK-1',
  cardPanMasked: '502229******1234',
  ...fields,
});

/** The gateway times out, or answers 5xx or nonsense. */
export const silence = async (): Promise<never> => {
  throw new GatewayUnavailable('timeout');
};

/** Gives the answers in turn. A call after the last one is an error. */
export const inTurn = <T>(...answers: (T | typeof silence)[]) => {
  const remaining = answers.values();
  return async (): Promise<T> => {
    const { done, value } = remaining.next();
    if (done) throw new Error('The gateway was called more often than the script says');
    return value === silence ? silence() : (value as T); // `silence` is the only function among them.
  };
};

/** A gateway that answers by the script and records its calls. Any other call is an error. */
export const aGateway = (script: Partial<GatewayAdapter>) => {
  const asked: { call: keyof GatewayAdapter; payment: GatewayPayment }[] = [];
  const recorded =
    <P extends GatewayPayment, More extends unknown[], A>(
      call: keyof GatewayAdapter,
      answer: ((payment: P, ...more: More) => Promise<A>) | undefined,
    ) =>
    async (payment: P, ...more: More): Promise<A> => {
      asked.push({ call, payment });
      if (!answer) throw new Error(`${call} is not in the script`);
      return answer(payment, ...more);
    };
  const adapter: GatewayAdapter = {
    open: recorded('open', script.open),
    verify: recorded('verify', script.verify),
    inquire: recorded('inquire', script.inquire),
    ...(script.expire && { expire: recorded('expire', script.expire) }),
    ...(script.reverse && { reverse: recorded('reverse', script.reverse) }),
    ...(script.book && { book: script.book }),
  };
  const { refund, refunds, disputes } = script;
  if (disputes) adapter.disputes = recorded('disputes', disputes);
  if (refund) adapter.refund = recorded('refund', refund);
  if (refunds) adapter.refunds = recorded('refunds', refunds);
  let lists = 0;
  const { listUnverified } = script;
  if (listUnverified)
    adapter.listUnverified = () => {
      lists += 1;
      return listUnverified();
    };
  const gatewayOf: AdapterOf = (_, listener) => (listener ? observed(adapter, listener) : adapter);
  return { gatewayOf, asked, calls: () => asked.map(({ call }) => call), lists: () => lists };
};

export const publicBaseUrl = 'https://pay.example';

/** A logger whose lines a test can read. */
export const readableLogger = () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  return {
    logger,
    alerts: () => lines.flatMap(({ alert }) => (alert ? [alert] : [])),
    warnings: () => lines.filter(({ level }) => level === logger.levels.values['warn']),
  };
};

/** The key of the payers of {@link withGateway}. */
export const payersKeyRing = { currentId: 'test', keys: new Map([['test', randomBytes(32)]]) };

/** The activities of payments, with real records and a scripted gateway. */
export const withGateway = (
  records: Pick<Records, 'paymentOutcomes' | 'sql'>,
  script: Partial<GatewayAdapter>,
  {
    workflows,
    ...deps
  }: Partial<Omit<Deps, 'workflows'>> & { workflows?: Partial<Deps['workflows']> } = {},
) => {
  const { gatewayOf, ...gateway } = aGateway(script);
  const { logger, alerts } = readableLogger();
  const now = new Date();
  const late: string[] = [];
  const calledOff: string[] = [];
  const activities = createPaymentActivities({
    paymentOutcomes: records.paymentOutcomes,
    gatewayExchanges: createGatewayExchanges(records.sql),
    gatewayOf,
    gatewayBulkhead: createBulkhead({ perOwner: 250 }),
    breaker: createBreaker(createGateways(records.sql)),
    orders: createOrders(records.sql),
    linkEnds: createLinkEnds(records.sql),
    payersBox: createSecretBox(payersKeyRing, 'PAYERS_KEY'),
    workflows: {
      recheckLatePayment: async (id) => void late.push(id),
      callOff: async ({ id }) => void calledOff.push(id),
      restart: async () => {},
      ...workflows,
    },
    publicBaseUrl,
    isRetry: () => false,
    now: () => now,
    logger,
    ...deps,
  });
  /** `late`: the payments whose late-payment workflow was started. `calledOff`: those whose order is paid. */
  return { ...activities, ...gateway, alerts, now, late, calledOff };
};
