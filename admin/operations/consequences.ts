import { formatMoney } from '../../contract/money.ts';
import { problemWithGateway, takenOf, termsOf } from '../../gateways/terms.ts';
import { createAdminRefunds } from '../../postgres/admin/refunds.ts';
import { createAdminTokens, type TokenSummary } from '../../postgres/admin/tokens.ts';
import {
  type Application,
  type ApplicationSettings,
  createApplications,
} from '../../postgres/applications/applications.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import {
  createGateways,
  isOfEverybody,
  type ListedGateway,
} from '../../postgres/gateways/gateways.ts';
import {
  countedMax,
  createRecentPayments,
  type RecentPayments,
} from '../../postgres/admin/recent-payments.ts';
import { createApprovals } from '../../postgres/admin/approvals.ts';
import type { RefundRule } from '../../postgres/refunds/rules.ts';
import { problemOfSettings } from './application-settings.ts';
import { nameableBy, newPlaces, problemWithGateways, slugsOf } from './application-gateways.ts';
import { findApplication } from './applications.ts';
import type { Deps } from './deps.ts';
import { countOf } from './fact.ts';
import { reservedText } from './facts.ts';
import { findToken, isUsableToken } from './tokens.ts';

/** The longest list that a sentence names. */
const namedMax = 20;
const applicationsMax = 10_000;
const tokensMax = 1_000;

const named = (names: readonly string[]): string => {
  const shown = names.slice(0, namedMax);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
};

const countedPayments = (payments: number): string => countOf(payments, 'payment');

const sumOf = (recent: readonly RecentPayments[]): number =>
  recent.reduce((sum, { payments }) => sum + payments, 0);

const sentences = (parts: readonly (string | false | null)[]): string | null =>
  parts.filter(Boolean).join(' ') || null;

/** Whether a gateway takes such a payment, by the rule of the API's list of gateways. */
const createTakes = () => {
  const known = new Map<string, ReturnType<typeof termsOf>>();
  return (
    { driver }: Pick<ListedGateway, 'driver'>,
    money: { currency: string; amount?: number },
  ) => {
    const terms = known.get(driver) ?? termsOf(driver, { hasRefundCredentials: false });
    known.set(driver, terms);
    return terms !== undefined && takenOf(terms, money).currencies.length > 0;
  };
};

type Takes = ReturnType<typeof createTakes>;

/** The payments by currency, the most frequent one first. */
const byCurrency = (recent: readonly RecentPayments[]): [string, number][] => {
  const sums = new Map<string, number>();
  for (const { currency, payments } of recent)
    sums.set(currency, (sums.get(currency) ?? 0) + payments);
  return [...sums].toSorted(([, one], [, other]) => other - one);
};

/** A live gateway gets the payments of live tokens alone. */
const reaching = (kind: ListedGateway['kind'] | undefined, recent: readonly RecentPayments[]) =>
  recent.filter(({ test }) => kind !== 'live' || !test);

const period = 'of the last 30 days';

const ofGateways = async (
  sql: Sql,
  before: Application,
  after: Application,
): Promise<string | null> => {
  const known = await createGateways(sql).list();
  const changed = newPlaces(after, before);
  const isChanged = slugsOf(after).join() !== slugsOf(before).join();
  // The change itself says why it is refused.
  if (!isChanged || problemWithGateways(known, after, before) !== undefined) return null;
  const kindOf = (slug: string) => known.find((each) => each.slug === slug)?.kind;
  const kind = kindOf(after.defaultGateway);
  const all = await createRecentPayments(sql).count([before.slug]);
  const recent = reaching(kind, all);
  const takes = createTakes();
  const own = known.filter(({ slug }) => slugsOf(after).includes(slug));
  const usable = own.filter((gateway) => problemWithGateway(gateway) === undefined);
  const refused = sumOf(
    recent.filter((payment) => !usable.some((gateway) => takes(gateway, payment))),
  );
  const tests = sumOf(all.filter(({ test }) => test));
  const real = sumOf(recent.filter(({ test, gateway }) => !test && kindOf(gateway) === 'live'));
  return sentences([
    ...own
      .filter(({ slug }) => changed.includes(slug))
      .flatMap((gateway) => untaken(gateway, all, takes)),
    refused > 0 &&
      `The API then refuses payments like ${refused} ${period}: no gateway of ${before.slug} takes them.`,
    kind === 'sandbox' &&
      real > 0 &&
      `"${after.defaultGateway}" is a sandbox, where nobody pays real money: ${countedPayments(real)} ${period} went to live gateways.`,
    kind === 'live' &&
      kindOf(before.defaultGateway) === 'sandbox' &&
      tests > 0 &&
      `A test token must name a sandbox in each create from now on: ${countedPayments(tests)} ${period} ${tests === 1 ? 'is a test' : 'are tests'}.`,
    sumOf(all) >= countedMax && `Only the newest ${countedMax} payments were counted.`,
  ]);
};

/** The gateways that no create can name any more, each with the payments that went there. */
const ofNames = async (
  sql: Sql,
  before: Application,
  after: Application,
): Promise<string | null> => {
  const lost = nameableBy(before).filter((slug) => !nameableBy(after).includes(slug));
  if (lost.length === 0) return null;
  const known = await createGateways(sql).list();
  // The change itself says why it is refused.
  if (problemWithGateways(known, after, before) !== undefined) return null;
  const recent = await createRecentPayments(sql).count([before.slug]);
  const isOfAll = (slug: string) => known.some((each) => each.slug === slug && isOfEverybody(each));
  const counts = lost.map((slug): [string, number] => [
    slug,
    sumOf(recent.filter(({ gateway, test }) => gateway === slug && !(test && isOfAll(slug)))),
  ]);
  return sentences(
    counts.map(
      ([slug, payments]) =>
        payments > 0 &&
        `A create that names "${slug}" is then refused: ${countedPayments(payments)} ${period} went there.`,
    ),
  );
};

const untaken = (
  gateway: ListedGateway,
  recent: readonly RecentPayments[],
  takes: Takes,
): string[] =>
  byCurrency(recent.filter((payment) => !takes(gateway, payment)))
    .slice(0, namedMax)
    .map(([currency, payments]) =>
      takes(gateway, { currency })
        ? `"${gateway.slug}" does not take the amounts of ${countedPayments(payments)} in ${currency} ${period}.`
        : `"${gateway.slug}" takes no ${currency}, which ${countedPayments(payments)} ${period} ${payments === 1 ? 'has' : 'have'}.`,
    );

const ofBudget = async (
  sql: Sql,
  { slug, requestsPerMinute }: Application,
  perMinute: number,
): Promise<string | null> => {
  if (perMinute >= requestsPerMinute) return null;
  const { minutes, payments } = await createRecentPayments(sql).countOver(slug, perMinute);
  if (payments === 0) return null;
  return `In ${countOf(minutes, 'minute')} ${period} ${slug} created more payments than ${perMinute}: the API would have refused ${countedPayments(payments)}.`;
};

const ofStatus = async (
  sql: Sql,
  { slug, ...application }: Application,
  status: Application['status'],
): Promise<string | null> => {
  if (status === application.status) return null;
  if (status === 'active') {
    const isUsable = (await createGateways(sql).list()).some(
      (gateway) =>
        slugsOf(application).includes(gateway.slug) && problemWithGateway(gateway) === undefined,
    );
    return isUsable ? null : `No gateway of ${slug} takes payments now: the API refuses them.`;
  }
  const open = await createRecentPayments(sql).countOpen(slug);
  if (open === 0) return null;
  const told = application.webhookUrl === null ? 'recorded' : 'recorded and the webhooks sent';
  return `${slug} has ${countOf(open, 'open payment')}. Payers can still pay, the outcomes are ${told}, but ${slug} can neither read nor cancel them.`;
};

/** Each application that goes on with other gateways, and its payments that these do not take. */
const lossesOf = async (
  sql: Sql,
  applications: readonly Application[],
  { slug, known, othersOf }: { slug: string; known: readonly ListedGateway[]; othersOf: OthersOf },
): Promise<{ application: string; lost: RecentPayments[] }[]> => {
  if (applications.length === 0) return [];
  const recent = await createRecentPayments(sql).count(applications.map((each) => each.slug));
  const takes = createTakes();
  const takenBy = (slugs: readonly string[], payment: RecentPayments) =>
    known.some((gateway) => slugs.includes(gateway.slug) && takes(gateway, payment));
  return applications.map((application) => {
    const kind = known.find((gateway) => gateway.slug === slug)?.kind;
    const own = recent.filter((payment) => payment.application === application.slug);
    const lost = reaching(kind, own).filter(
      (payment) => takenBy([slug], payment) && !takenBy(othersOf(application), payment),
    );
    return { application: application.slug, lost };
  });
};
type OthersOf = (application: Application) => string[];

/**
 * Each says in sentences what a change does to the payments to come, for the question before it; null: nothing. The
 * change itself refuses what is wrong.
 */
export const createConsequences = ({ sql }: Pick<Deps, 'sql'>) => ({
  /** @throws NotFound */
  async ofSettings(
    slug: string,
    { status, ...settings }: Partial<ApplicationSettings>,
  ): Promise<string | null> {
    const before = await findApplication(sql, slug);
    // The change itself says why it is refused.
    if (problemOfSettings(settings) !== undefined) return null;
    const { requestsPerMinute } = settings;
    return sentences([
      await ofGateways(sql, before, { ...before, ...settings }),
      await ofNames(sql, before, { ...before, ...settings }),
      requestsPerMinute !== undefined && (await ofBudget(sql, before, requestsPerMinute)),
      status !== undefined && (await ofStatus(sql, before, status)),
    ]);
  },

  /** Names the applications that use the gateway, and those that have no other one. */
  async ofDisabling(slug: string): Promise<string | null> {
    const known = await createGateways(sql).list();
    const usable = known
      .filter((gateway) => problemWithGateway(gateway) === undefined)
      .map((gateway) => gateway.slug);
    if (!usable.includes(slug)) return null;
    const users = (await createApplications(sql).list(applicationsMax)).filter(
      (application) => application.status === 'active' && slugsOf(application).includes(slug),
    );
    const othersOf: OthersOf = (application) =>
      slugsOf(application).filter((each) => each !== slug && usable.includes(each));
    const stopped = users.filter((application) => othersOf(application).length === 0);
    const others = users.filter((application) => othersOf(application).length > 0);
    const losses = await lossesOf(sql, others, { slug, known, othersOf });
    const safe = losses.filter(({ lost }) => lost.length === 0);
    return sentences([
      stopped.length > 0 &&
        `These applications then have no gateway, and the API refuses their payments that name none: ${named(stopped.map((each) => each.slug))}.`,
      ...losses
        .filter(({ lost }) => lost.length > 0)
        .slice(0, namedMax)
        .map(
          ({ application, lost }) =>
            `The other gateways of ${application} do not take ${countedPayments(sumOf(lost))} ${period} (${named(byCurrency(lost).map(([currency]) => currency))}).`,
        ),
      safe.length > 0 &&
        `These go on with their other gateways: ${named(safe.map(({ application }) => application))}.`,
    ]);
  },

  /** @throws NotFound */
  async ofRevoking(application: string, id: string): Promise<string | null> {
    const tokens = createAdminTokens(sql);
    const token = await findToken(sql, application, id);
    if (!isUsableToken(token)) return null;
    const { mode, scopes } = token;
    const others = (await tokens.list(application, tokensMax, { mode })).filter(
      (other) => other.id !== id && isUsableToken(other),
    );
    const creates = ({ scopes: each }: Pick<TokenSummary, 'scopes'>) => each.includes('create');
    const reserved = scopes.includes('refund')
      ? await createAdminRefunds(sql).sumReserved(application, 'application')
      : [];
    return sentences([
      creates(token) && !others.some(creates)
        ? `It is the last usable ${mode} token that creates payments: ${application} can create no ${mode} payments until you issue another one.`
        : others.length === 0 && `It is the last usable ${mode} token of ${application}.`,
      reserved.length > 0 &&
        `Refunds that ${application} has asked for and that no gateway was told of go on: ${reservedText(reserved)}. Disable the application first to have them wait.`,
    ]);
  },

  /** @throws NotFound */
  async ofReplacing(application: string, id: string): Promise<string | null> {
    const { scopes } = await findToken(sql, application, id);
    const rules = scopes.includes('refund') ? await createApprovals(sql, 'refund').list() : [];
    return rules.length === 0
      ? null
      : 'Nobody can use the new token until another admin confirms it: until then only the old one works, and neither of them if that ends at once.';
  },

  /** The limit is that of a day. @throws NotFound */
  async ofRefundLimit({
    application,
    currency,
    amount,
  }: RefundRule & { application: string }): Promise<string | null> {
    await findApplication(sql, application);
    const before = (await createAdminRefunds(sql).listLimits(application)).map(
      (limit) => limit.currency,
    );
    const after = before.filter((each) => each !== currency);
    if (amount !== null) after.push(currency);
    const recent = await createRecentPayments(sql).count([application]);
    const larger = sumOf(
      recent.filter(
        (each) => amount !== null && each.currency === currency && each.amount > amount,
      ),
    );
    // It gives nothing back in a currency without a limit, once it has one.
    const mayRefund = (limits: readonly string[], each: string) =>
      limits.length === 0 || limits.includes(each);
    const lost = byCurrency(recent).filter(
      ([each]) => mayRefund(before, each) && !mayRefund(after, each),
    );
    return sentences([
      larger > 0 &&
        `${countedPayments(larger)} ${period} ${larger === 1 ? 'is' : 'are'} larger than ${formatMoney({ amount: amount ?? 0, currency })}, so ${application} cannot give ${larger === 1 ? 'it' : 'them'} back whole in a day.`,
      ...lost
        .slice(0, namedMax)
        .map(
          ([other, payments]) =>
            `${application} then gives nothing back in ${other}, which ${countedPayments(payments)} ${period} ${payments === 1 ? 'has' : 'have'}.`,
        ),
    ]);
  },
});
