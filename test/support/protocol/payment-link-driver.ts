import { createFinalizer } from '../../../activities/finalize.ts';
import { expired, type Outcome } from '../../../activities/outcome.ts';
import { createLinkTask } from '../../../activities/links.ts';
import { payLinkHandler } from '../../../api/links/page.ts';
import { newLinkId } from '../../../contract/ids.ts';
import { dayMs } from '../../../contract/time.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createLinkEnds, type LinkEnds } from '../../../postgres/links/ends.ts';
import { createLinks } from '../../../postgres/links/links.ts';
import { createOrders } from '../../../postgres/orders.ts';
import type { PaymentLink } from '../../../protocol/payment-link.ts';
import { type Records, withOutcome, noAnswer } from '../data/records.ts';
import { publicBaseUrl, readableLogger } from '../service/scripted-gateway.ts';
import { type Driver, type Stop, stopAfter } from './driver.ts';

/** Replaces the statements that end links by faulty ones. */
export type PaymentLinkCodeFault = (ends: LinkEnds, records: Records) => Partial<LinkEnds>;

const ofTries =
  /^(?:payer sends|payer begins|payer: payments\.insert|finalize|linkEnds|crash)\b.*\((\w+)\)$/;

const paid: Outcome = { ...expired, status: 'paid', trackingCode: 'T-1' };

let links = 0;

/** A link: the form of its page, the activities of its payments, the sweeper, and what an application does meanwhile. */
export const createPaymentLinkDriver = async (
  records: Records,
  fault?: PaymentLinkCodeFault,
): Promise<Driver<PaymentLink>> => {
  const { sql } = records;
  const number = (links += 1);
  const application = `shop-${number}`;
  const orderId = `order-${number}`;
  // Orders may be paid twice but for the link.
  await createApplications(sql).insert({
    slug: application,
    defaultGateway: 'stripe',
    callbackUrls: ['https://shop.example/return'],
    webhookUrl: null,
  });
  const id = newLinkId();
  const live = { application, test: false, orderId };
  await createLinks(sql).insert({
    ...{ id, ...live, amount: 1250, currency: 'EUR', description: null, locale: null },
    ...{ expiresAt: new Date(Date.now() + dayMs), askedBy: null },
  });
  const ends = createLinkEnds(sql);
  const linkEnds = { ...ends, ...fault?.(ends, records) };
  const { logger } = readableLogger();
  const now = () => new Date();
  let isElsewhere = false;

  const listTries = () =>
    sql<{ id: string; status: string; opened: boolean }[]>`
      select id, status, gateway_reference is not null as opened from payments
      where link_id = ${id} order by created_at`;

  const press = (stop: Stop) =>
    payLinkHandler({
      sql,
      links: { getForPayer: stopAfter(stop, createLinks(sql).getForPayer) },
      gateways: createGateways(sql),
      starter: { start: () => {} },
      backlog: { check: () => {} },
      metrics: { created: { inc: () => {} } },
      publicBaseUrl,
      now,
    } as unknown as Parameters<typeof payLinkHandler>[0])({
      params: { link_id: id },
      search: () => new URLSearchParams(),
    } as unknown as Parameters<ReturnType<typeof payLinkHandler>>[0]);

  /** Ends the try with this outcome, as the gateway's answer has it. */
  const finish = async (nth: number, outcome: Outcome, stop: Stop) => {
    const tried = (await listTries())[nth];
    if (!tried) throw new Error('The payer has begun no payment');
    if (!tried.opened) {
      const redirect = { method: 'GET', url: `https://gateway.example/${tried.id}` } as const;
      const reference = `REF_${tried.id}`;
      await records.paymentOutcomes.recordOpened(tried.id, { reference, redirect, exchanges: [] });
      await records.payments.sendToGateway([tried.id], now());
    }
    const payment = await records.paymentOutcomes.get(tried.id);
    if (!payment) throw new Error('The payment is gone');
    const { finalize } = createFinalizer({
      paymentOutcomes: {
        ...records.paymentOutcomes,
        async finalize(ended, event, options) {
          const finalized = await records.paymentOutcomes.finalize(ended, event, options);
          const goesOn = finalized === 'done' && ended.status === 'paid';
          return goesOn ? stop(async () => finalized) : finalized;
        },
      },
      orders: createOrders(sql),
      gatewayExchanges: createGatewayExchanges(sql),
      workflows: {
        recheckLatePayment: async () => {},
        callOff: async () => {},
        restart: async () => {},
      },
      linkEnds,
      now,
      logger,
    });
    await finalize(payment, outcome);
  };

  const sweep = (stop: Stop) =>
    createLinkTask({
      linkEnds: {
        ...linkEnds,
        // Only this one of the links in the database.
        listDue: stopAfter(
          stop,
          async () => (await linkEnds.listDue(100_000)).filter((each) => each === id),
          (due) => due.length > 0,
        ),
      },
      workflows: { restart: async () => {} },
      now,
      logger,
    }).endLinks();

  return {
    tryOf: (step) => ofTries.exec(step)?.[1],
    run(name, _, stop, step) {
      const tried = name();
      if (tried === 'a' || tried === 'b') return press(stop);
      if (tried === 'sweeper') return sweep(stop);
      return finish(
        tried === 'one' ? 0 : 1,
        step.startsWith('finalize unpaid') ? expired : paid,
        stop,
      );
    },
    async happen(step) {
      if (step === 'application: links.disable') await createLinks(sql).disable(id);
      else if (step === 'the time of the link is over')
        await sql`update links set expires_at = now() - interval '1 second' where id = ${id}`;
      else if (step.startsWith('application: another')) {
        const other = await records.sent({ ...live, gateway: 'stripe' });
        const { ended, event } = withOutcome(other, 'paid');
        isElsewhere = (await records.paymentOutcomes.finalize(ended, event, noAnswer)) === 'done';
      }
    },
    async observe() {
      const [link] = await sql<{ status: PaymentLink['status']; over: boolean }[]>`
        select status, expires_at <= now() as over from links where id = ${id}`;
      const events = await sql<{ kind: string }[]>`
        select kind from events where subject = ${id}`;
      const [one, two] = (await listTries()).map(({ status }) => {
        if (status === 'pending' || status === 'processing') return 'open';
        return status === 'paid' ? 'paid' : 'unpaid';
      });
      const [event, second] = events;
      const kind = (event?.kind ?? 'none').replace('link.', '') as PaymentLink['event'];
      return {
        ...link,
        event: second ? 'second' : kind,
        elsewhere: isElsewhere,
        one_status: one ?? 'none',
        two_status: two ?? 'none',
      };
    },
  };
};
