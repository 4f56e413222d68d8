import type { Language } from '../../contract/languages.ts';
import { limits } from '../../contract/limits.ts';
import { first, type Fragment, type Queries } from '../driver/sql.ts';

export interface Application {
  slug: string;
  status: 'active' | 'disabled';
  defaultGateway: string;
  /** Asked in this order while the gateways before them do not open a payment. */
  fallbackGateways: string[];
  /** A create may name these beside the ones above. */
  allowedGateways: string[];
  /** At least one; the first is the default. */
  callbackUrls: string[];
  webhookUrl: string | null;
  /** The request budget. */
  requestsPerMinute: number;
  /** Its receiver knows the events of refunds. */
  refundEvents: boolean;
  /** Its receiver knows the events of disputes. */
  disputeEvents: boolean;
  /** At most one payment of an order is paid and not given back in full. */
  ordersPaidOnce: boolean;
  /** The name that payers see; null: the slug. */
  displayName: string | null;
  /** The language of payers' pages for browsers that ask for none of theirs; null: English. */
  locale: Language | null;
  createdAt: Date;
}

/** The part of an application that an admin can change. */
export type ApplicationSettings = Omit<Application, 'slug' | 'createdAt'>;

/** The settings that are missing have their defaults. */
export type NewApplication = Pick<
  Application,
  'slug' | 'defaultGateway' | 'callbackUrls' | 'webhookUrl'
> &
  Partial<Omit<ApplicationSettings, 'status'>>;

/** The part of an application that its payers see. */
export interface PaidTo {
  /** The name for payers. */
  paidTo: string;
  /** The language of the application's payers; null: it has none. */
  locale: string | null;
}

/** The columns of {@link PaidTo}, of `a`. */
export const selectPaidTo = (sql: Queries): Fragment =>
  sql`coalesce(a.display_name, a.slug) as "paidTo", a.locale`;

export const createApplications = (sql: Queries) => {
  const columns = sql`
    slug, status, default_gateway as "defaultGateway", fallback_gateways as "fallbackGateways",
    allowed_gateways as "allowedGateways", callback_urls as "callbackUrls", webhook_url as "webhookUrl", requests_per_minute as "requestsPerMinute",
    refund_events as "refundEvents", dispute_events as "disputeEvents", orders_paid_once as "ordersPaidOnce",
    display_name as "displayName", locale, created_at as "createdAt"`;
  return {
    /** False if the slug exists; then nothing is written. */
    async insert(application: NewApplication): Promise<boolean> {
      const { slug, defaultGateway, fallbackGateways = [], callbackUrls, webhookUrl } = application;
      const { allowedGateways = [] } = application;
      const { requestsPerMinute = limits.applicationRequestsPerMinute } = application;
      const { refundEvents = false, disputeEvents = false, ordersPaidOnce = false } = application;
      const { displayName = null, locale = null } = application;
      const { count } = await sql`
        insert into applications
          (slug, default_gateway, fallback_gateways, allowed_gateways, callback_urls, webhook_url, requests_per_minute,
            refund_events, dispute_events, orders_paid_once, display_name, locale)
        values (${slug}, ${defaultGateway}, ${fallbackGateways}, ${allowedGateways}, ${callbackUrls}, ${webhookUrl},
          ${requestsPerMinute}, ${refundEvents}, ${disputeEvents}, ${ordersPaidOnce}, ${displayName}, ${locale})
        on conflict (slug) do nothing`;
      return count === 1;
    },

    async setUrls(
      slug: string,
      { callbackUrls, webhookUrl }: Pick<NewApplication, 'callbackUrls' | 'webhookUrl'>,
    ): Promise<void> {
      await sql`
        update applications set callback_urls = ${callbackUrls}, webhook_url = ${webhookUrl}
        where slug = ${slug}`;
    },

    get: (slug: string) =>
      first(sql<Application[]>`select ${columns} from applications where slug = ${slug}`),

    /** Locks the row: no other transaction changes the application or its secrets until this one ends. */
    lock: (slug: string) =>
      first(sql<Application[]>`
        select ${columns} from applications where slug = ${slug} for no key update`),

    async list(limit: number): Promise<Application[]> {
      return sql<Application[]>`select ${columns} from applications order by slug limit ${limit}`;
    },

    async update(slug: string, to: ApplicationSettings): Promise<void> {
      await sql`
        update applications set status = ${to.status}, default_gateway = ${to.defaultGateway},
          fallback_gateways = ${to.fallbackGateways}, allowed_gateways = ${to.allowedGateways},
          callback_urls = ${to.callbackUrls}, webhook_url = ${to.webhookUrl},
          requests_per_minute = ${to.requestsPerMinute}, refund_events = ${to.refundEvents}, dispute_events = ${to.disputeEvents},
          orders_paid_once = ${to.ordersPaidOnce},
          display_name = ${to.displayName}, locale = ${to.locale}
        where slug = ${slug}`;
    },
  };
};
