import { pino } from 'pino';
import type { Deps } from '../../activities/payment.ts';
import { createPaymentActivities } from '../../activities/payment.ts';
import { createBulkhead } from '../../activities/bulkhead.ts';
import type { GatewayStatus, GatewayAdapter, GatewayPayment } from '../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../gateways/errors.ts';
import { observed } from '../../gateways/observe.ts';
import type { AdapterOf } from '../../gateways/adapters.ts';
import { createGatewayExchanges } from '../../postgres/gateway-exchanges.ts';
import type { Records } from './records.ts';

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

/** The gateway times out, answers 5xx or nonsense. */
export const silence = async (): Promise<never> => {
  throw new GatewayUnavailable('timeout');
};

/** Gives the answers in turn; a call beyond the last one is an error. */
export const inTurn = <T>(...answers: (T | typeof silence)[]) => {
  const left = answers.values();
  return async (): Promise<T> => {
    const { done, value } = left.next();
    if (done) throw new Error('The gateway was asked more often than the script says');
    return value === silence ? silence() : (value as T); // The one function among the answers is out.
  };
};

/** A gateway that answers by the script and knows nothing else; what it was asked is kept. */
export const aGateway = (script: Partial<GatewayAdapter>) => {
  const asked: { call: keyof GatewayAdapter; payment: GatewayPayment }[] = [];
  const answering =
    <P extends GatewayPayment, A>(
      call: keyof GatewayAdapter,
      answer: ((payment: P) => Promise<A>) | undefined,
    ) =>
    async (payment: P): Promise<A> => {
      asked.push({ call, payment });
      if (!answer) throw new Error(`${call} is not in the script`);
      return answer(payment);
    };
  const adapter: GatewayAdapter = {
    open: answering('open', script.open),
    verify: answering('verify', script.verify),
    inquire: answering('inquire', script.inquire),
    ...(script.expire && { expire: answering('expire', script.expire) }),
    ...(script.reverse && { reverse: answering('reverse', script.reverse) }),
  };
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

/** A logger whose lines can be read. */
export const readableLogger = () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  return {
    logger,
    alerts: () => lines.flatMap(({ alert }) => (alert ? [alert] : [])),
    warnings: () => lines.filter(({ level }) => level === logger.levels.values['warn']),
  };
};

/** The activities of payments, on real records and against a gateway that answers by the script. */
export const withGateway = (
  records: Pick<Records, 'paymentOutcomes' | 'sql'>,
  script: Partial<GatewayAdapter>,
  deps: Partial<Deps> = {},
) => {
  const { gatewayOf, ...gateway } = aGateway(script);
  const { logger, alerts } = readableLogger();
  const now = new Date();
  const late: string[] = [];
  const activities = createPaymentActivities({
    paymentOutcomes: records.paymentOutcomes,
    gatewayExchanges: createGatewayExchanges(records.sql),
    gatewayOf,
    gatewayBulkhead: createBulkhead({ perOwner: 250 }),
    workflows: { startLate: async (id) => void late.push(id) },
    publicBaseUrl,
    now: () => now,
    logger,
    ...deps,
  });
  /** `late`: payments whose money somebody was told to look for. */
  return { ...activities, ...gateway, alerts, now, late };
};
