import type { Filters, ListPage } from '../../contract/list.ts';
import type { ListLinks } from '../../contract/links/list.ts';
import { type Link, linkTriesMax } from '../../contract/links/link.ts';
import { first, type Queries } from '../driver/sql.ts';
import { selectLink } from '../links/links.ts';
import { conditionsOf, rangeOf } from '../list.ts';
import { joinOwnDelivery, ownersOf, type PaymentRow, rowColumns } from './payments.ts';

/** A link with what only admins see. */
export interface LinkRecord extends Link {
  /** The admin who asked for it; null: its application did. */
  askedBy: string | null;
  /** A payer sees it once a second admin has confirmed it. */
  toConfirm: boolean;
}

/** Selects links for a list. Null: all of them. */
export interface LinkFilter extends Filters<ListLinks> {
  application: string | null;
  test: boolean | null;
  /** True: those that wait for a second admin. */
  toConfirm: true | null;
}

export const everyLink: LinkFilter = {
  application: null,
  test: null,
  orderId: null,
  status: null,
  toConfirm: null,
  from: null,
  to: null,
};

/** The sum for which another admin must confirm a link, and the amount of the rule, in minor units. */
export interface LinkOverRule {
  total: number;
  above: number;
}

export const createAdminLinks = (sql: Queries) => {
  const columns = sql`${selectLink(sql)}, l.asked_by as "askedBy", l.to_confirm and l.status = 'open' as "toConfirm"`;
  return {
    /** The newest first. It reads the beginning of one range of an index for each application and mode. */
    list: (
      { application, test, from, to, ...filter }: LinkFilter,
      { after, limit }: ListPage,
    ): Promise<LinkRecord[]> => sql<LinkRecord[]>`
      select ${columns} from ${ownersOf(sql, { application, test })} cross join lateral (
        select l.* from links l
        where l.application = o.slug and l.test = o.test ${conditionsOf(sql, filter, {
          orderId: (id) => sql`l.order_id = ${id}`,
          status: (status) => sql`l.status = ${status}`,
          toConfirm: () => sql`l.to_confirm and l.status = 'open'`,
        })} ${rangeOf(sql, { from, to }, after, { at: sql`l.created_at`, id: sql`l.id` })}
        order by l.created_at desc, l.id desc limit ${limit}) as l
      order by l.created_at desc, l.id desc limit ${limit}`,

    get: (id: string) =>
      first(sql<LinkRecord[]>`select ${columns} from links l where l.id = ${id}`),

    /** The payments that payers have begun with it, the newest first. */
    listTries: (id: string): Promise<PaymentRow[]> => sql<PaymentRow[]>`
      select ${rowColumns(sql)} from (
        select p.* from payments p where p.link_id = ${id} order by p.created_at desc limit ${linkTriesMax}
      ) as p ${joinOwnDelivery(sql)}
      order by p.created_at desc, p.id desc`,

    /** Why another admin would have to confirm a link that the admin asks for now; undefined: none has to. */
    overRule: (
      { amount, currency, test }: Pick<Link, 'amount' | 'currency' | 'test'>,
      asker: string,
    ) =>
      first(
        sql<
          LinkOverRule[]
        >`select * from link_to_confirm(${currency}, ${amount}, ${asker}, ${test})`,
      ),
  };
};
