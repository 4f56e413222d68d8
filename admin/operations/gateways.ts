import type { GatewayKind, SealedCredentials } from '../../contract/gateway-account.ts';
import { problemWithAccount } from '../../gateways/adapters.ts';
import type { PaymentBounds } from '../../gateways/amount.ts';
import { findDriver, sealCredentials } from '../../gateways/registry.ts';
import { problemWithGateway } from '../../gateways/terms.ts';
import { createAttentionQueries, type OpensNothing } from '../../postgres/admin/attention.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
import type { AccountTerms, ListedGateway } from '../../postgres/gateways/gateways.ts';
import { createApplications } from '../../postgres/applications/applications.ts';
import { createGateways, isOfEverybody } from '../../postgres/gateways/gateways.ts';
import { nameableBy } from './application-gateways.ts';
import { checkSlug } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface NewGateway {
  slug: string;
  driver: string;
  kind: GatewayKind;
  /** A JSON object in the driver's format; null for a driver without credentials. */
  credentials: string | null;
}

export interface GatewayDetails {
  gateway: ListedGateway;
  /** The payments that its driver takes; null for a driver that this version does not have. */
  bounds: PaymentBounds | null;
  /** Its answers report the fees of payments. */
  reportsFees: boolean;
}

const noCredentials: SealedCredentials = {
  credentials: null,
  notificationSecrets: undefined,
  refundCredentials: null,
};

/** @throws NotFound, so that a mistyped name does not look like a gateway without data */
export const checkGateway = async (sql: Queries, slug: string): Promise<void> => {
  const isKnown = (await createGateways(sql).list()).some((gateway) => gateway.slug === slug);
  if (!isKnown) throw new NotFound(`There is no gateway "${slug}".`);
};

export const createGatewayOperations = ({
  sql,
  change,
  targetRule,
  secretBox,
  notificationBox,
}: Pick<Deps, 'sql' | 'change' | 'targetRule' | 'secretBox' | 'notificationBox'>) => ({
  async add({ slug, driver, kind, credentials }: NewGateway, reason: string | null): Promise<void> {
    checkSlug(slug);
    const parsed = credentials === null ? {} : parseCredentials(credentials);
    const problem = problemWithAccount(driver, { slug, kind, credentials: parsed }, targetRule);
    if (problem !== undefined) throw new Refusal(`${problem}.`);
    const sealed =
      credentials === null
        ? noCredentials
        : sealCredentials({ slug, driver, credentials: parsed }, { secretBox, notificationBox });
    await change({ action: 'gateway.add', subject: `gateway:${slug}`, reason }, async (tx) => {
      const added = await createGateways(tx).insert({ slug, driver, kind, ...sealed });
      if (!added) throw new Refusal(`The gateway "${slug}" already exists.`);
      const after = { driver, kind, enabled: true, has_credentials: credentials !== null };
      return { before: null, after };
    });
  },

  /**
   * Replaces the credentials. The next call for any payment uses them. Secrets of notifications, and what only refunds
   * need, stay unless new ones are given, or none (`[]`, `null`).
   */
  async setCredentials(slug: string, credentials: string, reason: string | null): Promise<void> {
    const parsed = parseCredentials(credentials);
    const subject = `gateway:${slug}`;
    await change({ action: 'gateway.credentials', subject, reason }, async (tx) => {
      const gateways = createGateways(tx);
      const account = (await gateways.list()).find((each) => each.slug === slug);
      if (!account) throw new NotFound(`There is no gateway "${slug}".`);
      const { driver, kind, hasCredentials } = account;
      const problem = problemWithAccount(driver, { slug, kind, credentials: parsed }, targetRule);
      if (problem !== undefined) throw new Refusal(`${problem}.`);
      const sealed = sealCredentials(
        { slug, driver, credentials: parsed },
        { secretBox, notificationBox },
      );
      await gateways.setCredentials(slug, sealed);
      return {
        before: { has_credentials: hasCredentials },
        after: {
          has_credentials: true,
          replaced: true,
          ...(sealed.notificationSecrets !== undefined && { notification_secrets_replaced: true }),
          ...(sealed.refundCredentials !== undefined && {
            has_refund_credentials: sealed.refundCredentials !== null,
          }),
        },
      };
    });
  },

  list: (): Promise<ListedGateway[]> => createGateways(sql).list(),

  /** The gateways that one of the applications may use; null: every gateway. @returns their slugs */
  async usableBy(applications: readonly string[] | null): Promise<string[]> {
    const gateways = await createGateways(sql).list();
    const own = await Promise.all((applications ?? []).map(createApplications(sql).get));
    const slugs = own.flatMap((each) => (each ? nameableBy(each) : []));
    return gateways
      .filter((each) => applications === null || isOfEverybody(each) || slugs.includes(each.slug))
      .map(({ slug }) => slug);
  },

  /**
   * Lists the gateways that open nothing, by slug.
   * @param test the mode of the payments; null: of both
   */
  async opensNothing(test: boolean | null): Promise<Map<string, OpensNothing>> {
    const found = await createAttentionQueries(sql).opensNothing(test);
    return new Map(found.map((each) => [each.gateway, each]));
  },

  /** Every gateway, with why it takes no new payment; undefined: it takes some. */
  async choices(): Promise<Map<string, string | undefined>> {
    const gateways = await createGateways(sql).list();
    return new Map(gateways.map((gateway) => [gateway.slug, problemWithGateway(gateway)]));
  },

  /** @throws NotFound */
  async get(slug: string): Promise<GatewayDetails> {
    const gateway = (await createGateways(sql).list()).find((each) => each.slug === slug);
    if (!gateway) throw new NotFound(`There is no gateway "${slug}".`);
    const bounds = findDriver(gateway.driver)?.capabilities ?? null;
    return { gateway, bounds, reportsFees: reportsFees(gateway) };
  },

  /** @throws NotFound */
  check: (slug: string): Promise<void> => checkGateway(sql, slug),

  /**
   * Sets where the days of the account begin, the agreed fee of a payment, and whether reported fees are booked. Closed days stay
   * as they are.
   * @param terms undefined: as before
   */
  async setAccount(
    slug: string,
    terms: Partial<AccountTerms>,
    reason: string | null,
  ): Promise<void> {
    await change({ action: 'gateway.account', subject: `gateway:${slug}`, reason }, async (tx) => {
      const gateways = createGateways(tx);
      const before = await gateways.getTerms(slug);
      if (!before) throw new NotFound(`There is no gateway "${slug}".`);
      const after = { ...before, ...terms };
      const gateway = await gateways.get(slug);
      if (after.feesReported && gateway && !reportsFees(gateway))
        throw new Refusal(
          `The gateway "${slug}" reports no fees: its list has them, if there is one.`,
        );
      if (!(await gateways.setTerms(slug, after)))
        throw new Refusal(`There is no time zone "${after.timeZone}".`);
      return { before: { ...before }, after: { ...after } };
    });
  },

  /** A disabled gateway takes no new payments. Open payments continue. A gateway that could take none is not enabled. */
  async setEnabled(slug: string, enabled: boolean, reason: string | null): Promise<void> {
    const action = enabled ? 'gateway.enable' : 'gateway.disable';
    await change({ action, subject: `gateway:${slug}`, reason }, async (tx) => {
      const gateways = createGateways(tx);
      const gateway = (await gateways.list()).find((each) => each.slug === slug);
      if (!gateway) throw new NotFound(`There is no gateway "${slug}".`);
      if (!(await gateways.setEnabled(slug, enabled)))
        throw new Refusal(`The gateway "${slug}" is already ${enabled ? 'enabled' : 'disabled'}.`);
      const problem = enabled ? problemWithGateway({ ...gateway, enabled }) : undefined;
      if (problem !== undefined)
        throw new Refusal(`The gateway "${slug}" ${problem}, so it would take no payment.`);
      return { before: { enabled: !enabled }, after: { enabled } };
    });
  },
});

/** Whether the answers of a gateway report the fees of payments. */
export const reportsFees = ({ driver }: Pick<ListedGateway, 'driver'>): boolean =>
  findDriver(driver)?.capabilities.reportsFees === true;

/** @throws Refusal without the text, which is secret */
const parseCredentials = (text: string): object => {
  const refusal = new Refusal('The credentials are not a JSON object.');
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw refusal;
    return parsed;
  } catch {
    throw refusal;
  }
};
