import { html } from 'hono/html';
import {
  type Attention,
  attentionKinds,
  type AttentionKind,
  countedMax,
} from '../../../postgres/admin/attention.ts';
import { opensNothingText } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import { filterBar } from '../filter-bar.ts';
import { pageSize } from '../filters.ts';
import { link, type FormatTime, type Html } from '../html.ts';
import { oneOf } from '../query.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { isUrgent } from './dispute.ts';
import { disputeTable } from './disputes.ts';
import { paymentTable } from './payments.ts';
import { paidTwiceTable } from './order.ts';

/** The payments of a gateway that opens nothing. */
export const unopenedPath = (gateway: string): string => `/attention/unopened?gateway=${gateway}`;

const many = (count: number): string =>
  count >= countedMax ? `${countedMax.toLocaleString('en')} or more` : count.toLocaleString('en');

interface Line {
  /** It only takes long. In all other lines money or an outcome is at stake. */
  isSlow?: boolean;
  count: number;
  what: string;
  /** The words for one alone. */
  one?: string;
  href: string;
  /** It says something also about no record. */
  isKept?: true;
}

/** The words for many and for one. */
const bothOf = (words: (noun: string) => string, noun: string): Pick<Line, 'what' | 'one'> => ({
  what: words(`${noun}s`),
  one: words(noun),
});

/** Disputes lose on a day that the bank has set: it is in the words, and the mark follows it. */
const disputeLine = (
  { disputesToAnswer: count, disputeDueAt: dueAt }: Attention,
  { formatTime, now }: { formatTime: FormatTime; now: Date },
): Line[] =>
  dueAt === null
    ? []
    : [
        {
          isSlow: !isUrgent(dueAt, now),
          count,
          what: `disputes to answer, the first one until ${formatTime(dueAt)}`,
          one: `dispute to answer until ${formatTime(dueAt)}`,
          href: '/attention/disputes',
        },
      ];

/** Fake money is not charged twice, and still a mistake of somebody. */
const paidTwiceLine = (
  { ordersPaidTwice: count, ordersPaidTwiceLive: live }: Attention,
  test: boolean,
): Line => ({
  isSlow: !test && live === 0,
  count,
  what: `orders are paid more than once${test || live === count ? '' : `, ${live === 0 ? 'none' : live.toLocaleString('en')} of them twice with real money`}`,
  one: `order is paid more than once${test || live === count ? '' : ', but not twice with real money'}`,
  href: '/attention/paid-twice',
});

const linesOf = (
  found: Attention,
  { formatTime, test }: Pick<PersonRequest, 'formatTime' | 'test'>,
  now: Date,
): Line[] => {
  const address = (path: string, query: Record<string, string>) =>
    `${path}?${String(new URLSearchParams(query))}`;
  const lines: Line[] = [
    {
      count: found.moneyToCheck,
      what: 'payments are not paid, and their gateways may hold money of them',
      one: 'payment is not paid, and its gateway may hold money of it',
      href: '/attention/money',
    },
    {
      count: found.ordersWaiting,
      what: 'payments wait for another one that holds their order',
      one: 'payment waits for another one that holds its order',
      href: '/attention/orders',
    },
    paidTwiceLine(found, test),
    ...disputeLine(found, { formatTime, now }),
    {
      count: found.refundsByHand,
      what: 'refunds wait for a decision',
      one: 'refund waits for a decision',
      href: address('/refunds', { stage: 'by_hand' }),
    },
    {
      count: found.refundsToConfirm,
      what: 'refunds wait for a second admin',
      one: 'refund waits for a second admin',
      href: address('/refunds', { stage: 'to_confirm' }),
    },
    {
      count: found.rulesToConfirm,
      what: 'looser rules for refunds wait for a second admin',
      one: 'looser rule for refunds waits for a second admin',
      href: '/refunds/rules#rules',
    },
    {
      count: found.tokensToConfirm,
      what: 'tokens that may give money back wait for a second admin',
      one: 'token that may give money back waits for a second admin',
      href: '/refunds/rules#tokens',
    },
    {
      count: found.accountDifferences,
      what: 'differences from the books of gateways',
      one: 'difference from the book of a gateway',
      href: '/accounts#differences',
    },
    ...found.undelivered.map(({ state, application, errorClass, count, since }): Line => ({
      count,
      ...bothOf(
        (webhooks) =>
          `${webhooks} of ${application} ${labelOf('delivery', state)}: ${labelOf('attemptError', errorClass)}${since === null ? '' : `; the receiver is unwell since ${formatTime(since)}`}`,
        'webhook',
      ),
      href: address('/deliveries', {
        status: state,
        application,
        ...(errorClass !== 'unknown' && { error: errorClass }),
      }),
    })),
    ...found.opensNothing.map((nothing): Line => ({
      count: nothing.waiting + nothing.failed,
      ...bothOf(
        (payments) => `${payments}: ${nothing.gateway} ${opensNothingText(nothing, formatTime)}`,
        'payment',
      ),
      href: unopenedPath(nothing.gateway),
      isKept: true,
    })),
    ...found.silent.map(({ gateway, count, since }): Line => ({
      isSlow: true,
      count,
      ...bothOf(
        (payments) =>
          since === null
            ? `${payments}: ${gateway} has not answered about ${payments === 'payment' ? 'it' : 'them'}, and answers about others`
            : `${payments}: ${gateway} has not answered since ${formatTime(since)}`,
        'payment',
      ),
      href: address('/attention/silent', { gateway }),
    })),
    {
      isSlow: true,
      count: found.overdue,
      what: 'payments are open for too long after their deadline',
      one: 'payment is open for too long after its deadline',
      href: '/attention/overdue',
    },
  ];
  return lines.filter(({ count, isKept }) => count > 0 || isKept);
};

/** A line for all that waits for a person, with its count and its list. */
export const attentionPart = (
  found: Attention,
  request: Pick<PersonRequest, 'formatTime' | 'test'>,
  now: Date,
): Html => {
  const lines = linesOf(found, request, now);
  if (lines.length === 0) return html`<p class="empty">Nothing waits for a person.</p>`;
  return html`<ul class="attention">
    ${lines.map(
      ({ isSlow = false, count, what, one = what, href }) =>
        html`<li class="${isSlow ? 'open' : 'bad'}">
          <span aria-hidden="true">${isSlow ? '○' : '▲'}</span> <strong>${many(count)}</strong>
          <span>${count === 1 ? one : what}</span> ${link(href, 'Show')}
        </li>`,
    )}
  </ul>`;
};

const texts: Record<AttentionKind, string> = {
  money:
    'These payments ended without being paid, and their gateways may hold money of them. Look there, give it back if it is there, then mark the payment as checked.',
  orders:
    'The payers of these payments have paid, and another payment of the same order holds it: its gateway has not said yet whether it took the money. Open that one on the page of the payment. While its gateway is silent, an admin can take the order from it.',
  unopened:
    'No gateway has opened these payments, and their gateway opens none since its last openings failed. Those that wait are tried until their deadline. The page of a payment shows what the gateway says: no answer, or a refusal of the account.',
  silent:
    'The last call about these open payments got no answer. They are asked again until they end.',
  overdue:
    'Their deadlines and the grace after them are over. Ask the gateway, and look at their workflows.',
};

const restPart = (shown: number): Html =>
  html`${shown === pageSize ? html`<p class="soft">These are the first ${pageSize}.</p>` : ''}
    <p class="links">${link('/attention', 'Everything that needs attention')}</p>`;

export const attentionRoutes = ({ attention, now }: Deps): Route[] => {
  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const found = await attention.get(request.test);
    return page('Needs attention', attentionPart(found, request, now()));
  };

  const list = (kind: AttentionKind) => async (request: PersonRequest) => {
    const gateways = (await request.operations.gateways.list()).map(({ slug }) => slug);
    const gateway = request.query.read('gateway', oneOf(gateways));
    const rows = await attention.list(kind, { test: request.test, gateway }, pageSize);
    return page(
      labelOf('attention', kind),
      html`${filterBar(request, {
        path: `/attention/${kind}`,
        chips: gateway ? [{ words: `Gateway: ${gateway}`, names: ['gateway'] }] : [],
        hasTimes: false,
      })}
        <p>${texts[kind]}</p>
        ${paymentTable(request, rows, 'There is no such payment.')}
        ${restPart(rows.length)}`,
    );
  };

  const listDisputes = async (request: PersonRequest) => {
    const rows = await request.operations.disputes.listToAnswer(request.test, pageSize);
    return page(
      'Disputes to answer',
      html`<p>Answer them at the gateway, the first one first. One that gets no answer in time is lost.</p>
        ${disputeTable(request, rows, { now: now(), ifEmpty: 'No dispute waits for an answer.' })}
        ${restPart(rows.length)}`,
    );
  };

  const listPaidTwice = async (request: PersonRequest) => {
    const rows = await request.operations.orders.listPaidTwice(request.test, pageSize);
    return page(
      'Orders paid more than once',
      html`<p>Several payments of these orders have money. On the page of an order, an admin gives money back, or an operator marks the
        order as checked where several payments are right.</p>
        ${paidTwiceTable(request, rows)} ${restPart(rows.length)}`,
    );
  };

  return [
    { method: 'GET', path: '/attention', role: 'viewer', handle: show },
    { method: 'GET', path: '/attention/paid-twice', role: 'viewer', handle: listPaidTwice },
    { method: 'GET', path: '/attention/disputes', role: 'viewer', handle: listDisputes },
    ...attentionKinds.map((kind): Route => ({
      method: 'GET',
      path: `/attention/${kind}`,
      role: 'viewer',
      handle: list(kind),
    })),
  ];
};
