import { formatMoney } from '../../../contract/money.ts';
import type { PaymentRow } from '../../../postgres/admin/payments.ts';
import { isQueryCanceled } from '../../../postgres/driver/error-codes.ts';
import type { FoundRefund } from '../../../postgres/console/search.ts';
import { visibleApplications } from '../owner.ts';
import type { Deps, PersonRequest } from '../request.ts';
import { inOtherCases, readSearch, type SearchMeaning } from '../search-text.ts';
import { orderPath } from '../thing-page.ts';
import { payoutAddress } from './payouts.ts';

/** A lookup shows at most so many, and reads one more to say that there are more. */
export const foundMax = 20;
const limit = foundMax + 1;
/** Names of people are looked for in these many. */
const peopleMax = 500;
const nameMin = 2;

/** The things of one lookup. */
export interface Found {
  /** The name of the lookup, after "By". */
  by: string;
  payments?: readonly PaymentRow[];
  refunds?: readonly FoundRefund[];
  /** Pages of other things. */
  links?: readonly { href: string; label: string; kind: string }[];
  /** The payments are those of orders. */
  isOfOrders?: true;
  /** The lookup did not finish. */
  isTooLong?: boolean;
}

export const hrefsOf = ({ payments = [], refunds = [], links = [] }: Found): string[] => [
  ...payments.map(({ id }) => `/payments/${id}`),
  ...refunds.map(({ id }) => `/refunds/${id}`),
  ...links.map(({ href }) => href),
];

/** The pages that have them: that of an order has its payments, if it has several. */
export const pagesOf = (found: Found): string[] => {
  if (!found.isOfOrders) return hrefsOf(found);
  const orders = Map.groupBy(found.payments ?? [], (payment) => orderPath(payment));
  return [...orders].map(([path, [first, ...others]]) =>
    first === undefined || others.length > 0 ? path : `/payments/${first.id}`,
  );
};

/** One lookup. A slow one does not take the others with it. */
const lookUp = async (by: string, find: () => Promise<Omit<Found, 'by'>>): Promise<Found> => {
  try {
    return { by, ...(await find()) };
  } catch (error) {
    if (isQueryCanceled(error)) return { by, isTooLong: true };
    throw error;
  }
};

/** People, applications and gateways that this person may see. */
const names = async (request: PersonRequest) => {
  const { operations, session } = request;
  const isOfService = session.applications === null;
  const [applications, people, gateways] = await Promise.all([
    visibleApplications(request),
    isOfService ? operations.console.people(peopleMax) : [],
    isOfService ? operations.gateways.list() : [],
  ]);
  return [
    ...applications.map((slug) => ({
      href: `/applications/${slug}`,
      label: slug,
      kind: 'Application',
    })),
    ...people.map(({ name }) => ({
      href: `/audit?${String(new URLSearchParams({ actor: name }))}`,
      label: name,
      kind: 'What was done by',
    })),
    ...gateways.map(({ slug }) => ({
      href: `/gateways/${slug}`,
      label: slug,
      kind: 'Gateway',
    })),
  ];
};

/** Everything under exactly this text. */
const exact = async (
  { queries, search }: Deps,
  text: string,
  request: PersonRequest,
): Promise<Found[]> => {
  const { session, test } = request;
  const { applications } = session;
  const [payments, links, disputes, named] = await Promise.all([
    queries.findByText(text, { applications, test }, limit),
    search.links(text, { applications, test, limit }),
    search.disputes(text, { applications, test, limit }),
    names(request),
  ]);
  const kinds = ['order', 'gateway reference', 'tracking code'].map((kind): Found => ({
    by: kind,
    payments: payments.filter(({ found }) => found === kind),
    ...(kind === 'order' && { isOfOrders: true }),
  }));
  const hasPayments = payments.some(({ found }) => found === 'order');
  return [
    ...kinds,
    {
      by: 'order of a link',
      // The page of the order has those with payments.
      links: (hasPayments ? [] : links).map(({ id }) => ({
        href: `/links/${id}`,
        label: id,
        kind: 'Link',
      })),
    },
    {
      by: "the gateway's reference of a dispute",
      links: disputes.map(({ id }) => ({ href: `/disputes/${id}`, label: id, kind: 'Dispute' })),
    },
    { by: 'name', links: named.filter(({ label }) => label === text) },
  ];
};

/** Lookups for a text that nothing has exactly. */
const similar = async (
  { search }: Deps,
  meaning: SearchMeaning,
  request: PersonRequest,
): Promise<Found[]> => {
  const { text, texts, card, money, idPrefix, idSuffix, eventPrefix, isCardNumber } = meaning;
  const { operations, session, test } = request;
  const scope = { applications: session.applications, test, limit };
  const tried: (Promise<Found> | false)[] = [
    !isCardNumber &&
      lookUp('beginning of the order', async () => ({
        payments: await search.byOrderPrefix(inOtherCases(texts), scope),
        isOfOrders: true,
      })),
    card !== null &&
      lookUp(`last four digits of the card, ${card}`, async () => ({
        payments: await search.byCard(card, scope),
      })),
    money !== null &&
      lookUp(`amount, ${formatMoney(money)}`, async () => ({
        payments: await search.byAmount(money, scope),
      })),
    idPrefix !== null &&
      idPrefix.kind !== 'REFUND' &&
      lookUp('beginning of the id of a payment', async () => ({
        payments: await search.byIdPrefix(idPrefix.part, scope),
      })),
    idSuffix !== null &&
      lookUp(`end of the id of a payment, among the newest`, async () => ({
        payments: await search.byIdSuffix(idSuffix, scope),
      })),
    !isCardNumber &&
      lookUp('refund, by its id or its reference at the gateway', async () => ({
        refunds: await search.refunds(
          {
            idPrefix: idPrefix?.kind === 'PAY' ? null : (idPrefix?.part ?? null),
            reference: text,
          },
          scope,
        ),
      })),
    idSuffix !== null &&
      lookUp('end of the id of a refund, among the newest', async () => ({
        refunds: await search.refundsBySuffix(idSuffix, scope),
      })),
    eventPrefix !== null &&
      lookUp('beginning of the id of an event', async () => ({
        links: (await search.events(eventPrefix, scope)).map(({ id }) => ({
          href: `/events/${id}`,
          label: id,
          kind: 'Event',
        })),
      })),
    session.applications === null &&
      !isCardNumber &&
      lookUp("payout, by its amount, the bank's reference or the bank's text", async () => ({
        links: (
          await operations.payouts.list({ gateway: null, test, text }, { after: null, limit })
        ).map((payout) => ({
          href: payoutAddress(payout),
          label: `${payout.id}, ${formatMoney(payout)}`,
          kind: 'Payout',
        })),
      })),
    text.length >= nameMin &&
      !isCardNumber &&
      lookUp('name of an application, a gateway or a person', async () => ({
        links: (await names(request))
          .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
          .slice(0, limit),
      })),
  ];
  return Promise.all(tried.filter((each) => each !== false));
};

/** Exactly the text, as it was typed and without what stands around it; then what is like it. */
export const gather = async (deps: Deps, typed: string, request: PersonRequest) => {
  const meaning = readSearch(typed);
  const tried: Found[] = [];
  if (!meaning.isCardNumber)
    for (const text of new Set([typed.trim(), typed, ...meaning.texts])) {
      if (text === '') continue;
      const found = await exact(deps, text, request);
      tried.push(...found);
      if (found.some((each) => hrefsOf(each).length > 0)) return { meaning, tried };
    }
  if (meaning.text !== '') tried.push(...(await similar(deps, meaning, request)));
  return { meaning, tried };
};
