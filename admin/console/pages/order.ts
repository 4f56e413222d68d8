import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { amountLeft } from '../../../contract/payment-fields.ts';
import { isTerminal } from '../../../contract/status.ts';
import type { OrderDetails, OrderSum } from '../../operations/orders.ts';
import {
  type OrderKey,
  type OrderPaidTwice,
  type OrderPaymentRow,
  orderPaymentsMax,
} from '../../../postgres/admin/orders.ts';
import {
  action,
  coded,
  codedState,
  copyable,
  escapeControls,
  externalText,
  type Html,
  idLink,
  link,
  notice,
  nowrap,
  type Row,
  shortId,
  stacked,
  time,
} from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import { modeIn } from '../mode.ts';
import { ofSlug } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { applicationOf, orderLink, orderPath } from '../thing-page.ts';
import { disputeTable } from './disputes.ts';
import { linksOfOrder } from './links.ts';
import { moneyTag } from './payment-facts.ts';
import { refundsOfOrder } from './refunds.ts';

/** The order of the address. */
export const orderIn = ({ params, query, test }: PersonRequest): OrderKey => ({
  application: params.slug,
  test: modeIn(query) ?? test,
  orderId: query.get('order') ?? '',
});

/** `80.00 EUR and 12.00 EUR of a sandbox`; null: nothing. */
export const sumsText = (
  { sums, test }: Pick<OrderDetails, 'sums' | 'test'>,
  amountOf: (sum: OrderSum) => number,
): string | null =>
  sums
    .filter((sum) => amountOf(sum) > 0)
    .map((sum) => {
      const text = formatMoney({ amount: amountOf(sum), currency: sum.currency });
      return test || sum.gatewayKind === 'live' ? text : `${text} of a sandbox`;
    })
    .join(' and ') || null;

const paidTime = ({ paidAt }: OrderPaymentRow): number => paidAt?.getTime() ?? 0;

/** The payments with money, in the order of paying. An order needs one of them, real or fake. */
const withMoney = ({ payments }: OrderDetails): OrderPaymentRow[] => {
  const found = payments.filter(({ paidTwice }) => paidTwice);
  return found.length > 1 ? found.toSorted((one, other) => paidTime(one) - paidTime(other)) : [];
};

/** The notice names so many. The table has all of them. */
const namedMax = 5;

const paidTwicePart = (details: OrderDetails, { formatTime }: PersonRequest): Html | '' => {
  const paid = withMoney(details);
  if (paid.length === 0) return '';
  const real = paid.filter(({ gatewayKind }) => gatewayKind === 'live');
  const words = details.test || real.length > 1 ? '' : ', and not more than once with real money';
  return notice(
    'bad',
    html`This order is paid ${paid.length} times${words}:
      <ul>
        ${paid
          .slice(0, namedMax)
          .map(
            (payment) =>
              html`<li>${formatMoney(payment)} ${moneyTag(payment)} ${payment.paidAt && time(payment.paidAt, formatTime)} by ${idLink(`/payments/${payment.id}`, payment.id)}</li>`,
          )}
        ${paid.length > namedMax ? html`<li>and ${paid.length - namedMax} more</li>` : ''}
      </ul>`,
  );
};

/** The payment that holds the order, and why. A payment of a link claims its order whatever the application wants. */
const holderOf = (
  { payments, isPaidOnce }: OrderDetails,
  { formatTime }: PersonRequest,
  hasLinks: boolean,
): Html => {
  const holder = payments.find(({ orderClaimedAt }) => orderClaimedAt !== null);
  if (holder?.orderClaimedAt) {
    const why = isTerminal(holder.status)
      ? 'it is paid, and not all of its money has gone back'
      : 'its gateway was asked to take the money, and has not said whether it did, so the others wait';
    return html`${idLink(`/payments/${holder.id}`, holder.id)} since ${time(holder.orderClaimedAt, formatTime)}: ${why}`;
  }
  if (!isPaidOnce)
    return hasLinks
      ? html`no payment: those of a link alone can hold it`
      : html`no payment: the application takes several paid payments for an order`;
  if (payments.some(({ hasPaid }) => hasPaid))
    return html`no payment: it was paid without a claim, and no other payment is taken`;
  return payments.some((payment) => amountLeft(payment) > 0)
    ? html`no payment: those of a sandbox hold no order of a live token`
    : html`no payment: none is paid and has money left`;
};

/** The parts of its money that went back or are held; null: none. */
const moneyBack = (payment: OrderPaymentRow): Html | null =>
  stacked(
    ...[
      [payment.amountRefunded, 'refunded'] as const,
      [payment.amountRefundPending, 'refund pending'] as const,
      [payment.amountDisputed, 'held by chargebacks'] as const,
    ]
      .filter(([amount]) => amount > 0)
      .map(
        ([amount, what]) =>
          html`${formatMoney({ ...payment, amount })} <span class="soft">${what}</span>`,
      ),
  );

/** The card and the code that the payer sees at his bank. */
const traces = ({ cardPanMasked, trackingCode }: OrderPaymentRow): Html | null =>
  stacked(
    cardPanMasked === null ? null : nowrap(cardPanMasked),
    trackingCode === null ? null : externalText(trackingCode),
  );

const statusOf = ({ status, failureCode }: OrderPaymentRow): Html =>
  html`${codedState('status', status)}${failureCode === null ? '' : html` <span class="soft">${coded('failure', failureCode)}</span>`}`;

const rowOf = (payment: OrderPaymentRow, canRefund: boolean): Row => ({
  Payment: shortId(`/payments/${payment.id}`, payment.id),
  Amount: html`<span class="amount">${formatMoney(payment)}</span>`,
  Status: statusOf(payment),
  'Paid or created': payment.paidAt ?? payment.createdAt,
  'Money back': moneyBack(payment),
  Gateway: html`${payment.gateway} ${moneyTag(payment)}`,
  'Card and code': traces(payment),
  Action:
    canRefund && amountLeft(payment) > 0
      ? action(`/payments/${payment.id}/refund`, 'Give back')
      : null,
});

/** Columns in which something stands. */
const withoutEmpty = (rows: readonly Row[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).filter(([name]) => rows.some((each) => each[name] !== null)),
    ),
  );

const canRefundAll = ({ session }: PersonRequest): boolean =>
  session.role === 'admin' && session.applications === null;

const actionsPart = (details: OrderDetails, request: PersonRequest): Html => {
  const { session } = request;
  const isMarked = details.payments.some(({ paidTwiceAt }) => paidTwiceAt !== null);
  const isOperator = session.role !== 'viewer' && session.applications === null;
  const actions = [
    canRefundAll(request) &&
      details.payments.some((payment) => amountLeft(payment) > 0) &&
      action(orderPath(details, '/refund'), 'Give everything back'),
    isOperator &&
      isMarked &&
      withMoney(details).length > 0 &&
      action(orderPath(details, '/checked'), 'Mark as checked'),
  ].filter((each) => each !== false);
  return actions.length === 0 ? html`` : html`<div class="actions">${actions}</div>`;
};

/** The sums of an order that a person signs for. */
export const orderCells = (details: OrderDetails): Row => ({
  Application: applicationOf(details),
  Order: details.orderId,
  Paid: sumsText(details, ({ paid }) => paid),
  Refunded: sumsText(details, ({ refunded }) => refunded),
  'Refund pending': sumsText(details, ({ refundPending }) => refundPending),
  'Held by chargebacks': sumsText(details, ({ disputed }) => disputed),
  Left: sumsText(details, ({ left }) => left),
});

const orderPart = async (
  details: OrderDetails,
  request: PersonRequest,
  now: Date,
): Promise<Html> => {
  const { payments, isCut } = details;
  const isPaid = payments.some(({ status }) => status === 'paid');
  const [links, refunds, disputes] = await Promise.all([
    linksOfOrder(details, request),
    isPaid ? refundsOfOrder(details, request) : undefined,
    request.operations.orders.disputes(details),
  ]);
  const rows = payments.map((payment) => rowOf(payment, canRefundAll(request)));
  return html`${paidTwicePart(details, request)} ${actionsPart(details, request)}
    ${request.cells.facts({ ...orderCells(details), Order: null, 'Held by': holderOf(details, request, links !== undefined) })}
    <h2>Payments</h2>
    ${isCut ? html`<p>The order has more than ${orderPaymentsMax} payments. The sums and the table have the paid ones first and then the newest. ${link(`/payments?${String(new URLSearchParams({ application: details.application, order: details.orderId }))}`, 'All of them')}</p>` : ''}
    ${request.cells.table({ caption: 'Payments of the order', rows: withoutEmpty(rows), ifEmpty: 'Nobody has begun to pay it.' })}
    ${links ? html`<h2>Links</h2>${links}` : ''}
    ${refunds ? html`<h2>Refunds</h2>${refunds}` : ''}
    ${disputes.length > 0 ? html`<h2>Disputes</h2>${disputeTable(request, disputes, { now, ifEmpty: '' })}` : ''}`;
};

/** A table of orders that are paid more than once. */
export const paidTwiceTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  orders: readonly OrderPaidTwice[],
): Html =>
  cells.table({
    caption: 'Orders paid more than once',
    isList: true,
    rows: orders.map(({ payments, live: real, since, ...order }) => ({
      Order: orderLink(order),
      Application: link(`/applications/${order.application}`, order.application),
      Payments: order.test
        ? `${payments} test`
        : [real > 0 && `${real} live`, payments > real && `${payments - real} sandbox`]
            .filter(Boolean)
            .join(', '),
      Found: since,
    })),
    ifEmpty: 'There is no such order.',
  });

/** The page of one order: all payments of it. */
export const orderRoutes = ({ now }: Pick<Deps, 'now'>): Route[] => {
  const currentOf = async (request: PersonRequest) => {
    const details = await request.operations.orders.get(orderIn(request));
    const isMoving = details.payments.some(
      ({ status, amountRefundPending }) => !isTerminal(status) || amountRefundPending > 0,
    );
    const address = isMoving ? orderPath(details, '/state') : null;
    const found = await live(await orderPart(details, request, now()), { address, seconds: 5 });
    return { details, part: found };
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { details, part: shown } = await currentOf(request);
    const orderId = escapeControls(details.orderId);
    return {
      ...page(
        html`Order <bdi class="id">${orderId}</bdi> ${copyable(details.orderId, 'Copy the order')}`,
        shown.content,
      ),
      tab: `Order ${orderId}`,
    };
  };

  return [
    { method: 'GET', path: '/orders/:slug', role: 'viewer', owner: ofSlug, handle: show },
    pollRoute(
      '/orders/:slug/state',
      async (request): Promise<Live> => (await currentOf(request)).part,
      ofSlug,
    ),
  ];
};
