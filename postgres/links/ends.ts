import { createLinkEvent } from '../../contract/event.ts';
import { newPaymentId } from '../../contract/ids.ts';
import type { Link } from '../../contract/links/link.ts';
import { blankPayment, type Payment } from '../../contract/payment-fields.ts';
import type { Sql } from '../driver/sql.ts';
import { eventInserts } from '../event-inserts.ts';
import { selectPayment } from '../payment-columns.ts';
import { selectLink } from './links.ts';

/** The event of a link that has ended, for the workflow that delivers it. */
export interface LinkEnd {
  /** The payment's id, or the link's without one. */
  id: string;
  application: string;
  orderId: string;
  ownEventId: string;
}

/** For the event of a link that nobody has tried to pay. No payment has its id. */
const untriedPayment = ({ id: linkId, ...link }: Link, now: Date): Payment => ({
  ...blankPayment,
  ...link,
  ...{
    linkId,
    id: newPaymentId(),
    status: 'expired',
    gateway: '',
    callbackUrl: '',
    metadata: '{}',
  },
  ...{ paidAt: null, updatedAt: now },
});

/** Links that a payment has paid, or that nobody has paid in time. The sweeper asks. */
export const createLinkEnds = (sql: Sql) => ({
  /** Links to look at, at most `limit`: a payment has paid one, or its time is over. */
  async listDue(limit: number): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      (select p.link_id as id from payments p
        where p.link_id is not null and p.status = 'paid' and p.link_ended_at is null limit ${limit})
      union
      (select l.id from links l where l.status = 'open' and l.expires_at <= now()
        and not exists (
          select from payments p where p.link_id = l.id and p.status in ('pending', 'processing'))
        order by l.expires_at limit ${limit})`;
    return rows.map(({ id }) => id);
  },

  /**
   * Ends a link that was paid or has expired, with its event. A payment that has begun may still pay it, so it waits for
   * that one. A disabled link can only be paid.
   * @returns undefined if it goes on, or had ended
   */
  end: (id: string, now: Date): Promise<LinkEnd | undefined> =>
    sql.begin(async (tx) => {
      const [link] = await tx<(Link & { isOver: boolean })[]>`
        select ${selectLink(tx)}, l.expires_at <= now() as "isOver" from links l where l.id = ${id} for update`;
      if (!link) return undefined;
      await tx`
        update payments set link_ended_at = now()
        where link_id = ${id} and status = 'paid' and link_ended_at is null`;
      if (link.status === 'paid' || link.status === 'expired') return undefined;
      const [payment = null] = await tx<Payment[]>`
        select ${selectPayment(tx)} from payments p where p.link_id = ${id}
        order by p.status = 'paid' desc, p.status in ('pending', 'processing') desc, p.created_at desc limit 1`;
      const isPaid = payment?.status === 'paid';
      const isOpen = payment?.status === 'pending' || payment?.status === 'processing';
      if (!isPaid && (isOpen || !link.isOver || link.status === 'disabled')) return undefined;

      const shown = { ...(payment ?? untriedPayment(link, now)), linkId: id };
      const event = createLinkEvent(isPaid ? 'link.paid' : 'link.expired', shown, now);
      await tx`
        with of_payment as (
          update links set status = ${isPaid ? 'paid' : 'expired'}, payment_id = ${isPaid ? payment.id : null},
            paid_at = ${isPaid ? payment.paidAt : null}
          where id = ${id}
          returning ${shown.id} as id, application, test, order_id
        ), ${eventInserts(tx, event, id, { hasPayment: payment !== null })} select`;
      const { application, orderId } = link;
      return { id: payment?.id ?? id, application, orderId, ownEventId: event.id };
    }),
});
export type LinkEnds = ReturnType<typeof createLinkEnds>;
