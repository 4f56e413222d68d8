import { ApplicationFailure } from '@temporalio/common';
import { refundId } from '../../../contract/ids.ts';
import type { KnownRefund } from '../../../gateways/gateway.ts';
import { createAdminRefunds } from '../../../postgres/admin/refunds.ts';
import { createRefundOutcomes, type RefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../../postgres/refunds/refunds.ts';
import type { Refund } from '../../../protocol/refund.ts';
import type { Records } from '../data/records.ts';
import { accepted, activitiesWith, aRefund, known } from '../data/refund-cases.ts';
import { aGateway, silence } from '../service/scripted-gateway.ts';
import { createBackup } from './backup.ts';
import { type Driver, type Stop, stopAfter } from './driver.ts';

/** Replaces statements by faulty ones. */
export type RefundFault = (outcomes: RefundOutcomes) => Partial<RefundOutcomes>;

const names = ['one', 'two'] as const;
type Name = (typeof names)[number];
/** Of 1,250 that were paid: a unit of the model is 625. */
const unit = 625;
const amounts = { one: unit, two: 2 * unit };
/** A refund without an answer is watched for a day. */
const dayMs = 25 * 60 * 60_000;
const refused = {
  ...({ result: 'refused', failureCode: 'gateway_refused' } as const),
  ...{ code: null, message: null },
};
const ofTries =
  /^(?:gateway\.refunds?|lost (?:answer|call)|markTold|watched|finishRefund|a refusal|crash|record)\b/;

/** Refunds of one payment: `refundPayment`, at Stripe or at a gateway without keys. */
export const createRefundDriver = async (
  records: Records,
  start: Refund,
  { restores, fault }: { restores: boolean; fault?: RefundFault | undefined },
): Promise<Driver<Refund>> => {
  const { sql } = records;
  const { keyed } = start;
  const payment = await records.ended('paid', { gateway: keyed ? 'stripe' : 'zarinpal' });
  const refunds = createRefunds(sql);
  const real = createRefundOutcomes(sql);
  const outcomes = { ...real, ...fault?.(real) };
  const backup = createBackup(sql, payment.id);
  await backup.copy();
  const ids = { one: refundId([payment.id, 'one']), two: refundId([payment.id, 'two']) };
  /** The ids under which refunds are recorded that Postgres has forgotten, and that carry no id of ours. */
  const foreignIds = {
    one: refundId([payment.gateway, `${payment.id} one`]),
    two: refundId([payment.gateway, `${payment.id} two`]),
  };
  /** The gateway's own books. */
  const books = {
    one: { gateway: start.one_gateway, listed: start.one_listed, given: start.one_given },
    two: { gateway: start.two_gateway, listed: start.two_listed, given: start.two_given },
  };

  const shown = (name: Name): KnownRefund => {
    const { gateway } = books[name];
    return known({
      reference: `${payment.id} ${name}`,
      refundId: keyed ? ids[name] : null,
      amount: amounts[name],
      state: gateway === 'done' ? 'succeeded' : gateway === 'returned' ? 'failed' : 'pending',
      failureCode: gateway === 'returned' ? 'returned_by_bank' : null,
    });
  };
  const carryOut = (name: Name): void => {
    const book = books[name];
    if (book.gateway === 'unknown' || !keyed) book.given += 1;
    if (book.gateway === 'unknown') book.gateway = 'pending';
  };

  const never: Stop = async (work) => work('');
  const work = async (name: Name, stop: Stop = never) => {
    const { gatewayOf } = aGateway({
      refunds: () =>
        stop(
          async () => names.filter((each) => books[each].listed).map(shown),
          (step) => stop === never || !/: (?:not listed|done|returned) /.test(step),
        ),
      refund: () =>
        stop(
          async (step) => {
            if (step.startsWith('lost call')) return silence();
            if (step.startsWith('gateway.refund: refused')) return refused;
            carryOut(name);
            if (step.startsWith('lost answer')) return silence();
            return accepted({ ...shown(name), state: 'pending', failureCode: null });
          },
          (step) => !step.startsWith('gateway.refund: refused'),
        ),
    });
    const { refundPayment } = activitiesWith(records, {
      gatewayOf,
      refundOutcomes: {
        ...outcomes,
        // A day has passed whenever somebody asks again.
        markTold: stopAfter(
          stop,
          (id, { timesTold, now }) =>
            outcomes.markTold(id, { timesTold, now: new Date(now.getTime() - dayMs) }),
          Boolean,
        ),
        // What follows is another try's.
        async recordMadeAtGateway(...of) {
          await outcomes.recordMadeAtGateway(...of);
          throw ApplicationFailure.create({ message: 'The try is over' });
        },
      },
    });
    await refundPayment({ id: await rowOf(name), paymentId: payment.id });
  };

  const find = async (id: string) => {
    const [row] = await sql<{ status: Refund['one_status']; timesTold: number; byHand: boolean }[]>`
      select status, times_told as "timesTold", stage = 'by_hand' is true as "byHand" from refunds where id = ${id}`;
    return row;
  };
  const rowOf = async (name: Name): Promise<string> =>
    (await find(foreignIds[name])) ? foreignIds[name] : ids[name];

  const eventsOf = async (id: string): Promise<Refund['one_events']> => {
    const rows = await sql<{ kind: string }[]>`
      select kind from events where subject = ${id} and kind <> 'refund.created' order by kind`;
    const kinds = rows.map(({ kind }) => kind.replace('refund.', ''));
    if (kinds.length === 0) return 'none';
    if (kinds.join() === 'failed,succeeded') return 'both';
    return kinds.length === 1 ? (kinds[0] as 'succeeded' | 'failed') : 'one_kind_twice';
  };

  return {
    tryOf: (step) => (ofTries.test(step) ? /\(([^)]+)\)$/.exec(step)?.[1] : undefined),
    run: (_, __, stop, step) => work(step.includes('(one') ? 'one' : 'two', stop),
    async happen(step, _, after) {
      const name: Name = step.includes('(one)') ? 'one' : 'two';
      if (step.startsWith('application: reserve'))
        await refunds.insert(
          aRefund(payment, { id: ids[name], amount: amounts[name], oneAtATime: !keyed }),
        );
      else if (step === 'backup copies') await backup.copy();
      else if (step === 'replica or backup restored') await backup.restore();
      else if (step.startsWith('notification')) await work(name);
      else if (step.startsWith('admin settles')) {
        const isDone = books[name].gateway === 'done';
        await createAdminRefunds(sql).settle(ids[name], isDone ? 'succeeded' : 'failed');
        await work(name);
      } else
        for (const each of names)
          Object.assign(books[each], {
            gateway: after[`${each}_gateway`],
            listed: after[`${each}_listed`],
          });
    },
    async observe() {
      const { amountRefunded, amountRefundPending } =
        (await records.paymentOutcomes.get(payment.id)) ?? payment;
      const seen: Record<string, unknown> = {
        refunded: amountRefunded / unit,
        held: amountRefundPending / unit,
      };
      for (const name of names) {
        const id = await rowOf(name);
        const { status = 'none', timesTold = 0, byHand = false } = (await find(id)) ?? {};
        const { given, gateway, listed } = books[name];
        const of = { status, told: timesTold, by_hand: byHand, given, gateway, listed };
        // A restore takes events back, and the model forgets them.
        if (!restores) Object.assign(of, { events: await eventsOf(id) });
        for (const [key, value] of Object.entries(of)) seen[`${name}_${key}`] = value;
      }
      return seen;
    },
  };
};
