import type {
  GatewayKind,
  NotificationAccount,
  RecordedAccount,
  SealedCredentials,
} from '../../contract/gateway-account.ts';
import type { TokenMode } from '../../contract/token.ts';
import { changesOne, first, type Queries } from '../driver/sql.ts';

/** A configured account at a payment provider. */
export interface Gateway {
  slug: string;
  driver: string;
  kind: GatewayKind;
  enabled: boolean;
}

/** The time zone of an account, and the agreed fee of a payment. */
export interface AccountTerms {
  /** A name of the IANA database. */
  timeZone: string;
  /** Hundredths of a percent; null: not known. */
  feeBasisPoints: number | null;
  /** Minor units. */
  feeFixed: number | null;
  /** The fees that the gateway reports with its payments are booked. */
  feesReported: boolean;
}

/** For those who may not read its credentials. */
export interface ListedGateway extends Gateway, AccountTerms {
  hasCredentials: boolean;
  /** Until then other candidates are asked before it; null: it opens payments. */
  silentUntil: Date | null;
  createdAt: Date;
}

/** The built-in gateway. Its money is not real. */
export const sandboxAccount = {
  slug: 'sandbox',
  driver: 'sandbox',
  kind: 'sandbox',
  credentials: null,
} as const;

type NewGateway = Omit<Gateway, 'enabled'> &
  Pick<SealedCredentials, 'credentials'> &
  Partial<SealedCredentials>;

/** A column that is sealed. Each has a key of its own. */
export type SealedPart = 'credentials' | 'refund_credentials' | 'notification_secrets';

/** An account that may open a payment. */
export interface RankedAccount extends RecordedAccount {
  /** Openings failed there again and again, and the pause is not over. False: it is over. Null: it opens payments. */
  isSilent: boolean | null;
}

/** Who may use a gateway: an application, and the mode of its token. */
export interface GatewayUser {
  /** The gateways that the application has or may name. */
  slugs: readonly string[];
  mode: TokenMode;
}

/** A gateway for the applications that may use it. */
export interface UsableGateway extends Gateway {
  hasCredentials: boolean;
  hasRefundCredentials: boolean;
  answers: boolean;
}

const mostUsable = 100;
const firstSilence = '30 seconds';
const longestSilence = '5 minutes';

/** Nobody's account stands behind the built-in sandbox, so the tests of all may use it. */
export const isOfEverybody = ({ driver }: { driver: string }): boolean =>
  driver === sandboxAccount.driver;

/** As `isOfEverybody` says, and what the application has or may name. */
const isUsable = (sql: Queries, { slugs, mode }: GatewayUser) =>
  sql`(slug = any (${[...slugs]}::text[]) or (${mode === 'test'} and driver = ${sandboxAccount.driver}))`;

/** Of gateways `g`: its last openings failed in a row, and it has opened nothing since. */
export const isSilent = (sql: Queries) => sql`g.silent_until is not null`;

/** {@link RankedAccount}'s own column, of gateways `g`. */
export const silenceColumn = (sql: Queries) => sql`g.silent_until > now() as "isSilent"`;

/** The fields of RecordedAccount, of gateways `g`. */
export const accountColumns = (sql: Queries) => sql`
  g.slug as gateway, g.driver, g.kind as "gatewayKind", g.credentials, g.refund_credentials as "refundCredentials"`;

const termsColumns = (sql: Queries) => sql`
  time_zone as "timeZone", fee_basis_points as "feeBasisPoints", fee_fixed as "feeFixed", fees_reported as "feesReported"`;

export const createGateways = (sql: Queries) => ({
  /** False if the slug exists; then nothing is written. */
  insert: ({
    slug,
    driver,
    kind,
    credentials,
    notificationSecrets = null,
    refundCredentials = null,
  }: NewGateway) =>
    changesOne(sql`
      insert into gateways (slug, driver, kind, credentials, notification_secrets, refund_credentials)
      values (${slug}, ${driver}, ${kind}, ${credentials}, ${notificationSecrets}, ${refundCredentials})
      on conflict (slug) do nothing`),

  async list(): Promise<ListedGateway[]> {
    return sql<ListedGateway[]>`
      select slug, driver, kind, enabled, has_credentials as "hasCredentials",
        case when silent_until > now() then silent_until end as "silentUntil", created_at as "createdAt",
        ${termsColumns(sql)}
      from gateways order by slug`;
  },

  /** The gateways of the slugs, in their order, that exist and that the user may use. */
  async listNamed(slugs: readonly string[], user: GatewayUser): Promise<Gateway[]> {
    return sql<Gateway[]>`
      select slug, driver, kind, enabled from gateways where slug = any (${[...slugs]}::text[]) and ${isUsable(sql, user)}
      order by array_position(${[...slugs]}::text[], slug)`;
  },

  /** The gateways that take payments of the user. */
  async listUsable(user: GatewayUser): Promise<UsableGateway[]> {
    return sql<UsableGateway[]>`
      select slug, driver, kind, enabled, has_credentials as "hasCredentials",
        has_refund_credentials as "hasRefundCredentials", coalesce(silent_until <= now(), true) as answers
      from gateways where ${isUsable(sql, user)} and (kind = 'sandbox' or ${user.mode === 'live'})
      order by enabled desc, slug limit ${mostUsable}`;
  },

  /** The accounts of the slugs, in their order. */
  async listRanked(slugs: readonly string[]): Promise<RankedAccount[]> {
    return sql<RankedAccount[]>`
      select ${accountColumns(sql)}, ${silenceColumn(sql)} from gateways g
      where slug = any (${[...slugs]}::text[]) order by array_position(${[...slugs]}::text[], slug)`;
  },

  /**
   * Begins a pause in which the gateway is asked last, after those before it a longer one.
   * @returns false if it is in one
   */
  beginSilence: (slug: string) =>
    changesOne(sql`
      update gateways set silences = silences + 1, silent_until = now()
        + least(${firstSilence}::interval * 2 ^ least(silences, 10), ${longestSilence}::interval)
      where slug = ${slug} and coalesce(silent_until <= now(), true)`),

  /** It has opened a payment. */
  async endSilence(slug: string): Promise<void> {
    await sql`
      update gateways set silences = 0, silent_until = null where slug = ${slug} and silent_until is not null`;
  },

  /** False if the gateway does not exist or is in this state already. */
  setEnabled: (slug: string, enabled: boolean) =>
    changesOne(sql`
      update gateways set enabled = ${enabled} where slug = ${slug} and enabled <> ${enabled}`),

  get: (slug: string) =>
    first(sql<Gateway[]>`
      select slug, driver, kind, enabled from gateways where slug = ${slug}`),

  /** The account that the gateway's adapter needs. */
  getAccount: (slug: string) =>
    first(sql<RecordedAccount[]>`
      select ${accountColumns(sql)} from gateways g where slug = ${slug}`),

  /** The part of the account that checks notifications. The API's login may read no more. */
  getNotificationAccount: (slug: string) =>
    first(sql<NotificationAccount[]>`
      select slug as gateway, driver, kind as "gatewayKind",
        notification_secrets as "notificationSecrets"
      from gateways where slug = ${slug}`),

  getTerms: (slug: string) =>
    first(sql<AccountTerms[]>`
      select ${termsColumns(sql)} from gateways where slug = ${slug}`),

  /** False if there is no such time zone, or no such gateway. */
  setTerms: (slug: string, terms: AccountTerms) =>
    changesOne(sql`
      update gateways set time_zone = ${terms.timeZone}, fee_basis_points = ${terms.feeBasisPoints},
        fee_fixed = ${terms.feeFixed}, fees_reported = ${terms.feesReported}
      where slug = ${slug} and exists (select from pg_timezone_names where name = ${terms.timeZone})`),

  /** Replaces the parts of the credentials that are given. */
  async setCredentials(
    slug: string,
    { credentials, notificationSecrets, refundCredentials }: SealedCredentials,
  ): Promise<void> {
    await sql`
      update gateways set credentials = ${credentials}
        ${notificationSecrets === undefined ? sql`` : sql`, notification_secrets = ${notificationSecrets}`}
        ${refundCredentials === undefined ? sql`` : sql`, refund_credentials = ${refundCredentials}`}
      where slug = ${slug}`;
  },

  /** Locks and lists gateways of which a part of the credentials is sealed by another key. */
  async listSealedByOthers(
    part: SealedPart,
    currentKeyId: string,
    limit: number,
  ): Promise<{ slug: string; sealed: string }[]> {
    return sql<{ slug: string; sealed: string }[]>`
      select slug, ${sql(part)} as sealed from gateways
      where split_part(${sql(part)}, '.', 2) <> ${currentKeyId}
      order by slug limit ${limit} for no key update`;
  },

  async reseal(part: SealedPart, slug: string, sealed: string): Promise<void> {
    await sql`update gateways set ${sql(part)} = ${sealed} where slug = ${slug}`;
  },

  /** The enabled gateways that a test token may use. */
  async sandboxSlugs(user: GatewayUser): Promise<string[]> {
    const rows = await sql<{ slug: string }[]>`
      select slug from gateways where kind = 'sandbox' and enabled and ${isUsable(sql, user)} order by slug limit 10`;
    return rows.map(({ slug }) => slug);
  },
});
export type Gateways = ReturnType<typeof createGateways>;
