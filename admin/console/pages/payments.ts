import { html } from 'hono/html';
import type { ListPosition } from '../../../contract/list.ts';
import { formatMoney, typedMoney } from '../../../contract/money.ts';
import { isoTime } from '../../../contract/time.ts';
import type { PaymentFilter, PaymentPage, PaymentRow } from '../../../postgres/admin/payments.ts';
import { csvOf } from '../../operations/csv.ts';
import { deliveryStateOf } from '../../operations/labels.ts';
import { addressWith, pageOf, pageSize, positionOf, readPosition } from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { coded, codedState, deliveryState, link, marked, shortId } from '../html.ts';
import { paymentChoices, readPaymentFilter, textChips, textFilters } from '../payment-filter.ts';
import { listPage, listRoutes } from '../list-page.ts';
import { fileName } from '../mode.ts';
import { emptyRange, isEmptyRange, readExactTimes } from '../period.ts';
import { orderLink, orderPath } from '../thing-page.ts';
import { moneyTag } from './payment-facts.ts';
import { visibleGateways } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';

/** A file has at most so many lines. Each page of it is a statement of its own. */
const fileMax = 100_000;
const filePageSize = 1_000;

const rowOf = (payment: PaymentRow): Row => ({
  Payment: shortId(`/payments/${payment.id}`, payment.id),
  Amount: html`<span class="amount">${formatMoney(payment)}</span>`,
  Status: html`${codedState('status', payment.status)}${
    payment.failureCode === null
      ? ''
      : html` <span class="soft">${coded('failure', payment.failureCode)}</span>`
  }${payment.paidTwice ? html` <a href="${orderPath(payment)}">${marked('bad', 'order paid more than once')}</a> ${moneyTag(payment)}` : ''}`,
  Order: orderLink(payment),
  Application: link(`/applications/${payment.application}`, payment.application),
  Gateway: payment.gateway,
  Webhook:
    payment.delivery === null ? null : deliveryState(payment.delivery, payment.deliveryError),
  Created: payment.createdAt,
});

/** A table of payments, also for the results of a search. */
export const paymentTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  rows: readonly PaymentRow[],
  ifEmpty: string,
): Html => cells.table({ caption: 'Payments', rows: rows.map(rowOf), ifEmpty, isList: true });

interface Found extends PaymentPage {
  next: ListPosition | null;
}

/** @param size a page has this many rows; one more is read */
const find = async (
  { payments }: PersonRequest['operations'],
  filter: PaymentFilter,
  { after, size }: { after: ListPosition | null; size: number },
): Promise<Found> => {
  const { rows: found, searchedBackTo } = await payments.list(filter, { after, limit: size + 1 });
  const { rows, last } = pageOf(found, size);
  if (last) return { rows, next: { at: last.createdAt, id: last.id }, searchedBackTo: null };
  if (searchedBackTo === null) return { rows, next: null, searchedBackTo };
  // Before every payment of the next millisecond.
  return { rows, next: { at: new Date(searchedBackTo.getTime() + 1), id: '0' }, searchedBackTo };
};

/** The columns of the file. */
const file = csvOf<[PaymentRow]>({
  payment_id: ({ id }) => id,
  created_at: ({ createdAt }) => isoTime(createdAt),
  application: ({ application }) => application,
  mode: ({ test }) => (test ? 'test' : 'live'),
  order_id: ({ orderId }) => orderId,
  status: ({ status }) => status,
  failure_code: ({ failureCode }) => failureCode,
  amount_minor: ({ amount }) => amount,
  amount: (payment) => typedMoney(payment),
  currency: ({ currency }) => currency,
  gateway: ({ gateway }) => gateway,
  webhook: ({ delivery, deliveryError }) => delivery && deliveryStateOf(delivery, deliveryError),
});

export const paymentListRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations, session } = request;
    const gateways = await visibleGateways(request);
    const filter = readPaymentFilter(request, deps.now(), gateways);
    const asked = { after: readPosition(query), size: pageSize };
    const { rows, next, searchedBackTo } = await find(operations, filter, asked);
    return listPage(request, {
      title: 'Payments',
      path: '/payments',
      choices: paymentChoices(query, gateways),
      application: filter.application,
      texts: { fields: textFilters(query), isWrong: query.problem() !== null },
      chips: textChips(filter),
      isSaved: true,
      listed: { rows, next: next && positionOf(next) },
      rowOf,
      ifEmpty: 'No payment matches this filter.',
      // A list without an index may end before it has looked at every payment.
      searched: { records: 'payments', backTo: searchedBackTo },
      parts: {
        last:
          session.role === 'viewer'
            ? ''
            : html`<p class="links">${link(addressWith('/payments/file', query, {}), 'These payments as CSV')}</p>`,
      },
    });
  };

  const download = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { operations } = request;
    const gateways = await visibleGateways(request);
    const wanted = readPaymentFilter(request, deps.now(), gateways);
    if (isEmptyRange(readExactTimes(request))) request.query.reject(['from', 'to'], emptyRange);
    const lines = async function* () {
      yield file.heading;
      let after: ListPosition | null = null;
      for (let sent = 0; sent < fileMax; sent += filePageSize) {
        const found: Found = await find(operations, wanted, { after, size: filePageSize });
        yield found.rows.map((row) => file.line(row)).join('');
        if (found.next === null) return;
        after = found.next;
      }
    };
    return { kind: 'file', name: fileName('payments', wanted.test), lines: lines() };
  };

  return [
    ...listRoutes('/payments', list, 'list'),
    { method: 'GET', path: '/payments/file', role: 'operator', owner: 'list', handle: download },
  ];
};
