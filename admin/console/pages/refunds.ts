import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { refundStages, refundStatuses } from '../../../contract/refund.ts';
import { secondAdmin } from '../../operations/links/labels.ts';
import type { OrderKey } from '../../../postgres/admin/orders.ts';
import type { RefundRecord } from '../../../postgres/admin/refunds.ts';
import { everyRefund, type RefundFilter } from '../../../postgres/refunds/filter.ts';
import { choiceOf, type Choices, chosenOf } from '../filter-bar.ts';
import { readFilter } from '../filters.ts';
import { type Html, link, notice, type Row, shortId } from '../html.ts';
import { findPage, firstPage, listPage, partOf } from '../list-page.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { orderLink } from '../thing-page.ts';
import { askerOf, refundButtons, refundState } from './refund.ts';

const stages = [...refundStages, secondAdmin] as const;

/** Cells that tell refunds of one payment apart. The page of each has the rest. */
const ownCells = (refund: RefundRecord): Row => ({
  Refund: shortId(`/refunds/${refund.id}`, refund.id),
  Amount: html`<span class="amount">${formatMoney(refund)}</span>`,
  Status: refundState(refund),
});

const otherCells = (refund: RefundRecord, request: PersonRequest): Row => ({
  'Asked by': askerOf(refund),
  Created: refund.createdAt,
  Action: refundButtons(refund, request),
});

/** The newest refunds of all payments of an order. */
export const refundsOfOrder = async (
  { application, test, orderId }: OrderKey,
  request: PersonRequest,
): Promise<Html | undefined> => {
  const ofOrder = { ...everyRefund, application, test, orderId };
  const found = await request.operations.refunds.list(ofOrder, firstPage);
  const rows = found.map((refund) => ({
    ...ownCells(refund),
    Payment: shortId(`/payments/${refund.paymentId}`, refund.paymentId),
    ...otherCells(refund, request),
  }));
  return partOf('Refunds', rows, request);
};

/** The refunds of one payment, on its page. */
export const refundsOfPayment = async (
  paymentId: string,
  request: PersonRequest,
): Promise<Html | undefined> => {
  const ofPayment = { ...everyRefund, paymentId };
  const found = await request.operations.refunds.list(ofPayment, firstPage);
  const rows = found.map((refund) => ({ ...ownCells(refund), ...otherCells(refund, request) }));
  return partOf('Refunds', rows, request);
};

export const refundRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations, session } = request;
    const choices = {
      status: choiceOf(query, 'status', refundStatuses, { label: 'Status', of: 'refundStatus' }),
    } satisfies Choices<RefundFilter>;
    const waits = choiceOf(query, 'stage', stages, { label: 'Stage', of: 'refundStage' });
    const filter: RefundFilter = {
      ...everyRefund,
      ...readFilter(request, deps.now()),
      ...chosenOf(choices),
      stage: waits.chosen === secondAdmin ? null : waits.chosen,
      toConfirm: waits.chosen === secondAdmin || null,
    };
    const listed = await findPage(
      request,
      (asked) => operations.refunds.list(filter, asked),
      ({ createdAt: at, id }) => ({ at, id }),
    );
    return listPage(request, {
      title: 'Refunds',
      path: '/refunds',
      choices: [...Object.values(choices), waits],
      application: filter.application,
      isSaved: true,
      listed,
      rowOf: (refund) => ({
        ...ownCells(refund),
        Order: orderLink(refund),
        Application: link(`/applications/${refund.application}`, refund.application),
        ...otherCells(refund, request),
      }),
      ifEmpty: 'No refund matches this filter.',
      parts: {
        above:
          filter.stage === 'by_hand' && listed.rows.length > 0
            ? notice(
                'bad',
                'Nobody can know what became of these. Look into the books of the gateway, then decide.',
              )
            : '',
        last:
          session.applications === null
            ? html`<p class="links">${link('/refunds/rules', 'Rules for refunds')}</p>`
            : '',
      },
    });
  };
  return [{ method: 'GET', path: '/refunds', role: 'viewer', owner: 'list', handle: list }];
};
