import { CreateLink } from '../../../contract/links/create.ts';
import { PaymentTerms } from '../../../contract/create-payment.ts';
import { linkEventId, linkIdPattern, newLinkId } from '../../../contract/ids.ts';
import type { ListPage } from '../../../contract/list.ts';
import { type Link, linkUrl } from '../../../contract/links/link.ts';
import { formatMoney } from '../../../contract/money.ts';
import { findPaymentProblems } from '../../../gateways/registry.ts';
import { createConfirmations } from '../../../postgres/admin/confirmations.ts';
import { createAdminEvents, type EventSummary } from '../../../postgres/admin/events.ts';
import {
  createAdminLinks,
  type LinkFilter,
  type LinkOverRule,
  type LinkRecord,
} from '../../../postgres/admin/links.ts';
import type { PaymentRow } from '../../../postgres/admin/payments.ts';
import type { Application } from '../../../postgres/applications/applications.ts';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { createLinks } from '../../../postgres/links/links.ts';
import { slugsOf } from '../application-gateways.ts';
import { createSetApproval } from '../approvals.ts';
import { findApplication, lockApplication } from '../applications.ts';
import { NotFound, Refusal } from '../change.ts';
import { orRefusal } from '../confirmation.ts';
import type { Deps } from '../deps.ts';
import { fact } from '../fact.ts';
import { labelOf } from '../labels.ts';
import { secondAdmin } from './labels.ts';

/** A link that an admin asks for. */
export interface AdminLink extends Pick<
  Link,
  'application' | 'test' | 'orderId' | 'amount' | 'currency' | 'description' | 'locale'
> {
  /** Seconds. */
  expiresIn: number;
}

/** A link with everything that a person needs to speak about it. */
export interface LinkDetails {
  link: LinkRecord;
  /** The address for the payer; null: the setting PUBLIC_BASE_URL is missing here. */
  url: string | null;
  tries: PaymentRow[];
  /** It has one once it was paid or has expired. */
  event: EventSummary | undefined;
}

/** Its status, or that it waits for a second admin. */
export const linkState = ({ status, toConfirm }: LinkRecord) => (toConfirm ? secondAdmin : status);

/** @param url its address, where a person needs it */
export const linkFacts = (link: LinkRecord, url: string | null) => ({
  url: fact('Address for the payer', url),
  application: fact('Application', link.application),
  order: fact('Order', link.orderId),
  amount: fact('Amount', formatMoney(link)),
  status: fact('Status', labelOf('linkStatus', linkState(link))),
  text: fact('Text', link.description),
  language: fact('Language', link.locale),
  payment: fact('Paid by', link.paymentId),
  askedBy: fact('Made by', link.askedBy ?? labelOf('requester', 'application')),
  created: fact('Created', link.createdAt),
  until: fact('Until', link.expiresAt),
  paid: fact('Paid', link.paidAt),
  disabled: fact('Disabled', link.disabledAt),
});

/** Says to the admin who asks for a link that another one must confirm it, and why. */
export const linkOverRuleText = ({ total, above }: LinkOverRule, currency: string): string => {
  const [sum, rule] = [total, above].map((amount) => formatMoney({ amount, currency }));
  return `Another admin must confirm it, because with it you have asked for links of ${sum} within 24 hours, and the rule is ${rule}. Until then nobody can pay it.`;
};

const words: Readonly<Record<string, string>> = {
  order_id: 'The order',
  amount: 'The amount',
  currency: 'The currency',
  description: 'The text',
  locale: 'The language',
  expires_in: 'The time, in seconds,',
};

/** @throws Refusal */
const checkFields = ({ orderId, description, locale, expiresIn, ...money }: AdminLink): void => {
  const parsed = CreateLink.safeParse({
    ...{ order_id: orderId, amount: money.amount, currency: money.currency, expires_in: expiresIn },
    ...(description !== null && { description }),
    ...(locale !== null && { locale }),
  });
  const [problem] = parsed.error?.issues ?? [];
  if (problem) throw new Refusal(`${words[problem.path.join('.')]} ${problem.message}.`);
};

/** A gateway of the application must take the payments. @throws Refusal */
const checkGateways = async (
  tx: Queries,
  application: Application,
  { test, amount, currency }: AdminLink,
): Promise<void> => {
  const slugs = slugsOf(application);
  const mode = test ? 'test' : 'live';
  const gateways = await createGateways(tx).listNamed(slugs, { slugs, mode });
  if (test && gateways.some(({ kind }) => kind !== 'sandbox'))
    throw new Refusal(
      `${application.slug} has live gateways, which no test uses: its tests choose a sandbox in the API.`,
    );
  const { expires_in } = PaymentTerms.parse({ amount, currency });
  const terms = { amount, currency, expiresInSeconds: expires_in };
  const problems = gateways.map(({ slug, driver, enabled }) =>
    enabled
      ? findPaymentProblems(driver, terms, slug).map(
          ({ path, message }) => `${words[path]} ${message}`,
        )
      : [`${slug} is disabled`],
  );
  if (problems.every((each) => each.length > 0))
    throw new Refusal(`No gateway of ${application.slug} takes it. ${problems.flat().join('; ')}.`);
};

export const createLinkOperations = ({
  sql,
  change,
  actor,
  via,
  now,
  publicBaseUrl,
}: Pick<Deps, 'sql' | 'change' | 'actor' | 'via' | 'now' | 'publicBaseUrl'>) => {
  const links = createAdminLinks(sql);
  const urlOf = (id: string) => (publicBaseUrl === null ? null : linkUrl(id, publicBaseUrl));

  /** @throws NotFound */
  const find = async (tx: Queries, id: string): Promise<LinkRecord> => {
    const link = linkIdPattern.test(id) ? await createAdminLinks(tx).get(id) : undefined;
    if (!link) throw new NotFound(`There is no link ${id}.`);
    return link;
  };

  return {
    async list(filter: LinkFilter, page: ListPage): Promise<LinkRecord[]> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      return links.list(filter, page);
    },

    /** Undefined: there is no such link. */
    async applicationOf(id: string): Promise<string | undefined> {
      return (await links.get(id))?.application;
    },

    /** @throws NotFound */
    get: (id: string): Promise<LinkRecord> => find(sql, id),

    /** @throws NotFound */
    async details(id: string): Promise<LinkDetails> {
      const link = await find(sql, id);
      const [tries, event] = await Promise.all([
        links.listTries(id),
        createAdminEvents(sql).find(linkEventId(id)),
      ]);
      return { link, url: urlOf(id), tries, event };
    },

    /** Why another admin will have to confirm such a link; undefined: none has to. */
    overRule: (
      link: Pick<AdminLink, 'amount' | 'currency' | 'test'>,
    ): Promise<LinkOverRule | undefined> => links.overRule(link, actor),

    /**
     * Makes a link. Above the rule it waits for another admin, and nobody can pay it until then.
     * @throws Refusal
     */
    async create(
      wanted: AdminLink,
      reason: string,
    ): Promise<{ link: LinkRecord; url: string | null }> {
      checkFields(wanted);
      const id = newLinkId();
      const link = await change(
        { action: 'link.create', subject: `link:${id}`, reason },
        async (tx) => {
          const { expiresIn, ...fields } = wanted;
          const application = await lockApplication(tx, wanted.application);
          if (application.status === 'disabled')
            throw new Refusal(`${application.slug} is disabled, so nobody could pay the link.`);
          await checkGateways(tx, application, wanted);
          const expiresAt = new Date(now().getTime() + expiresIn * 1000);
          await createLinks(tx).insert({ ...fields, id, expiresAt, askedBy: { actor, via } });
          const made = await find(tx, id);
          const { test, orderId, amount, currency, toConfirm } = made;
          const facts = { application: application.slug, test, order_id: orderId };
          const after = { ...facts, amount, currency, ...(toConfirm && { to_confirm: true }) };
          return { result: made, before: null, after };
        },
      );
      return { link, url: urlOf(id) };
    },

    /** A disabled link begins no further payment. A payment that has begun goes on. @throws Refusal */
    async disable(id: string, reason: string): Promise<void> {
      await change({ action: 'link.disable', subject: `link:${id}`, reason }, async (tx) => {
        const { status } = await find(tx, id);
        if (!(await createLinks(tx).disable(id)))
          throw new Refusal(`${id} is ${status}, so it cannot be disabled.`);
        return { before: { status: 'open' }, after: { status: 'disabled' } };
      });
    },

    /** Confirms a link that another admin has asked for. @throws Refusal */
    async confirm(id: string, reason: string | null): Promise<void> {
      const { askedBy } = await find(sql, id);
      await change({ action: 'link.confirm', subject: `link:${id}`, reason }, async (tx) => {
        await orRefusal(createConfirmations(tx).confirmLink(id, { actor, via }), id, askedBy);
        return { before: { asked_by: askedBy }, after: { confirmed_by: actor } };
      });
    },

    /** The sum counts what the admin has asked for in 24 hours. */
    setApprovalAbove: createSetApproval({ change }, 'link'),
  };
};
