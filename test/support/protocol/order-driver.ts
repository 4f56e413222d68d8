import { mayHaveCaptured } from '../../../activities/gateway-calls.ts';
import { refundId } from '../../../contract/ids.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createOrders, type Orders } from '../../../postgres/orders.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../../../postgres/payments/outcomes.ts';
import { createPayments } from '../../../postgres/payments/payments.ts';
import { createRefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../../postgres/refunds/refunds.ts';
import type { Order, OrderShape } from '../../../protocol/order.ts';
import { aDispute, recordDisputes } from '../data/disputes.ts';
import { aPayment } from '../data/payments.ts';
import type { Records } from '../data/records.ts';
import { aRefund, refundEnd } from '../data/refund-cases.ts';
import { confirmed, silence, withGateway } from '../service/scripted-gateway.ts';
import { createBackup } from './backup.ts';
import { type Driver, type Stop, stopAfter } from './driver.ts';

/** The activities' collaborators. A fault replaces some of them. */
interface Code {
  outcomes: PaymentOutcomes;
  orders: Orders;
  recheckLatePayment: (id: string) => Promise<void>;
  callOff: (id: string) => Promise<void>;
}
export type OrderCodeFault = (code: Code, records: Records) => Partial<Code>;

const names = ['one', 'two'] as const;
type Name = (typeof names)[number];
const nameIn = (step: string): Name => (/\(two\b/.test(step) ? 'two' : 'one');

const ofTries =
  /^(?:gateway\.(?:verify|expire)|lost (?:answer|call)|orders\.claim|finalize|recordInquiry|afterFinalized|openPayment|recordOpened|cancelPayment|crash)\b/;

const statusOf = ({ status, failureCode }: PaymentWithAccount): Order['one_status'] => {
  if (status === 'pending' || status === 'processing') return 'open';
  if (status === 'paid') return 'paid';
  return failureCode === 'order_already_paid' ? 'lost' : 'unpaid';
};

let orders = 0;

/** Two payments of an order: their activities, their gateways, the create of the second and refunds. */
export const createOrderDriver = async (
  records: Records,
  start: Order,
  { shape, fault }: { shape: OrderShape; fault?: OrderCodeFault | undefined },
): Promise<Driver<Order>> => {
  const { sql } = records;
  const number = (orders += 1);
  // The option is an application's, and it is switched on.
  const application = `shop-${number}`;
  await createApplications(sql).insert({
    slug: application,
    defaultGateway: 'zarinpal',
    callbackUrls: ['https://shop.example/return'],
    webhookUrl: null,
    ordersPaidOnce: start.option,
  });
  const gatewayOf = (name: Name) =>
    start[`${name}_gateway`] === 'two_step' ? 'zarinpal' : 'stripe';
  const anOrder = (name: Name): Partial<Payment> => ({
    application,
    orderId: `order-${number}`,
    gateway: gatewayOf(name),
  });
  const payments = {
    one: await records.sent(anOrder('one')),
    two:
      start.two_status === 'none' ? aPayment(anOrder('two')) : await records.sent(anOrder('two')),
  };
  const created: Record<Name, Order['one_status']> = { one: 'open', two: start.two_status };
  /** The gateways' own books. */
  const books = {
    one: { money: start.one_money, closed: start.one_closed, silent: start.one_silent },
    two: { money: start.two_money, closed: start.two_closed, silent: start.two_silent },
  };
  const late = { one: start.one_late, two: start.two_late };
  let current = '';
  /** Whom the step has called off. */
  const calledOff = new Set<Name>();
  const backup = createBackup(sql, payments.one.id, payments.two.id);
  await backup.copy();
  const exchanges = createGatewayExchanges(sql);
  const doubts = shape === 'two tries' || shape === 'calls off';
  const refundIds = {
    one: refundId([payments.one.id, 'whole']),
    two: refundId([payments.two.id, 'whole']),
  };
  const hasName = (id: string): Name => (id === payments.one.id ? 'one' : 'two');

  const code: Code = {
    outcomes: records.paymentOutcomes,
    orders: createOrders(sql),
    recheckLatePayment: async (id) => void (late[hasName(id)] = true),
    callOff: async (id) => void calledOff.add(hasName(id)),
  };
  const faulty = { ...code, ...fault?.(code, records) };

  const gatewayAt = (name: Name, stop: Stop): Partial<GatewayAdapter> => {
    const book = books[name];
    const answer = (): GatewayStatus | 'unverified' => {
      if (book.money === 'unverified') return 'unverified';
      if (book.money === 'captured') return confirmed();
      return { state: book.closed || book.money === 'back' ? 'expired' : 'waiting' };
    };
    const isLost = (step: string) =>
      /^(?:lost (?:answer|call) of gateway\.verify|gateway\.verify: no answer)/.test(step);
    return {
      async verify(_, mayTake) {
        const said = await stop(async (step) => (isLost(step) ? silence() : answer()), isLost);
        if (said !== 'unverified') return said;
        if (mayTake && !(await stop(mayTake))) return { state: 'unconfirmed' };
        return stop(async (step) => {
          if (book.silent || step.startsWith('lost call')) return silence();
          if (book.money === 'unverified') book.money = 'captured';
          return isLost(step) ? silence() : (answer() as GatewayStatus);
        }, isLost);
      },
      ...(start[`${name}_gateway`] === 'one_step' && {
        expire: () =>
          stop(
            async (step) => {
              book.closed ||= book.money === 'none';
              return step.startsWith('lost answer') ? silence() : book.closed;
            },
            (step) => step.includes(', then gateway.verify'),
          ),
      }),
      open: () =>
        stop(async () => ({
          result: 'opened',
          reference: `REF_${payments[name].id}`,
          redirect: { method: 'GET', url: `https://gateway.example/${payments[name].id}` },
        })),
    };
  };

  /** The insert, whose transaction commits later. */
  const create = (name: Name, stop: Stop) =>
    sql.begin((tx) =>
      stop(
        async () => {
          const { isInserted } = await createPayments(tx).insert(payments[name], null, {
            isPaidOnce: start.option,
          });
          created[name] = isInserted ? 'inserting' : 'refused';
        },
        () => created[name] === 'refused',
      ),
    );

  const settle = (name: Name, failureCode: 'returned_by_bank' | null) =>
    createRefundOutcomes(sql).finishRefund(
      { id: refundIds[name], paymentId: payments[name].id },
      refundEnd(failureCode),
      { now: new Date(), exchanges: [] },
    );

  return {
    tryOf(step) {
      current = step;
      calledOff.clear();
      if (/payments\.insert/.test(step)) return 'create';
      return ofTries.test(step) ? /\(([^)]+)\)$/.exec(step)?.[1] : undefined;
    },
    async run(_, before, stop, step) {
      const name = nameIn(step);
      const { id } = payments[name];
      if (step.startsWith('application: payments.insert')) return create(name, stop);
      const { outcomes, recheckLatePayment, callOff, orders: claims } = faulty;
      const activities = withGateway(records, gatewayAt(name, stop), {
        paymentOutcomes: {
          ...outcomes,
          finalize: stopAfter(stop, outcomes.finalize),
          recordInquiry: stopAfter(stop, outcomes.recordInquiry, (isOpen) => !isOpen),
        },
        orders: claims,
        workflows: { recheckLatePayment, callOff: ({ id: other }) => callOff(other) },
        isRetry: () => before[`${name}_retry`],
      });
      if (before[`${name}_status`] === 'open' && !before[`${name}_opened`])
        return activities.openPayment({ id, afterDeadline: false });
      if (before[`${name}_call_off`]) return activities.cancelPayment({ id, by: 'order' });
      return shape === 'calls off'
        ? activities.verifyPayment({ id, returned: false })
        : activities.expirePayment({ id, grace: false, unreachable: false });
    },
    async happen(step, _, after) {
      const name = nameIn(step);
      const payment = payments[name];
      if (step.startsWith('payer: sendToGateway'))
        await records.payments.sendToGateway([payment.id], payment.createdAt);
      else if (step.startsWith('orders.release')) {
        await sql`update payments set order_claimed_at = now() - interval '25 hours' where id = ${payment.id}`;
        await createOrders(sql).release(payment.id);
      } else if (step === 'admin switches the option on')
        await sql`update applications set orders_paid_once = true where slug = ${application}`;
      else if (step.startsWith('application refunds')) {
        const whole = { id: refundIds[name], amount: 1250 };
        await createRefunds(sql).insert(aRefund(payment, whole));
        await settle(name, null);
      } else if (step.startsWith('bank sends')) await settle(name, 'returned_by_bank');
      else if (step.includes('chargeback'))
        await recordDisputes(sql, payment.id, [
          aDispute({
            gatewayReference: `dp_${payment.id}`,
            amount: payment.amount,
            status: step.includes('is lost') ? 'lost' : 'won',
          }),
        ]);
      else if (step.startsWith('notification')) late[name] = true;
      else if (step === 'backup copies') await backup.copy();
      else if (step === 'restore') await backup.restore();
      for (const each of names)
        Object.assign(books[each], {
          money: after[`${each}_money`],
          silent: after[`${each}_silent`],
        });
    },
    async observe() {
      const seen: Record<string, unknown> = {};
      const claims = await sql<{ id: string }[]>`
        select id from payments where application = ${application} and order_claimed_at is not null`;
      for (const name of names) {
        const { id } = payments[name];
        const row = await records.paymentOutcomes.get(id);
        const { money, closed } = books[name];
        const of: Record<string, unknown> = {
          status: row ? statusOf(row) : created[name],
          opened: typeof row?.reference === 'string',
          sent: row?.payerSent ?? false,
          claim: claims.some((claim) => claim.id === id),
          money,
          closed,
        };
        if (doubts) of['doubt'] = mayHaveCaptured(await exchanges.list(id));
        // Without doubts the model does not say what follows from an end as unpaid, and a restore takes the end back.
        if (shape !== 'restores' && (doubts || of['status'] !== 'unpaid')) of['late'] = late[name];
        if (shape === 'calls off' && (current.includes('callOff') || calledOff.has(name)))
          if (!current.includes(`(${name})`)) of['call_off'] = calledOff.has(name);
        for (const [key, value] of Object.entries(of)) seen[`${name}_${key}`] = value;
      }
      return seen;
    },
  };
};
