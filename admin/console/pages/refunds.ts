import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { refundStages, refundStatuses } from '../../../contract/refund.ts';
import { secondAdmin } from '../../operations/labels.ts';
import type { RefundRecord } from '../../../postgres/admin-refunds.ts';
import { everyRefund, type RefundFilter } from '../../../postgres/refund-filter.ts';
import { applicationChoice, filterBar } from '../filter-bar.ts';
import {
  choose,
  pageLinks,
  pageOf,
  pageSize,
  positionOf,
  readFilter,
  readPosition,
} from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { cut, link, notice, shortId } from '../html.ts';
import { visibleApplications } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { askerOf, refundButtons, refundState } from './refund.ts';
import { saveView } from './views.ts';

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

/** The refunds of one payment, on its page. */
export const refundsOfPayment = async (
  paymentId: string,
  request: PersonRequest,
): Promise<Html | undefined> => {
  const found = await request.operations.refunds.list(
    { ...everyRefund, paymentId },
    { after: null, limit: pageSize },
  );
  if (found.length === 0) return undefined;
  return request.cells.table({
    caption: 'Refunds',
    isList: true,
    rows: found.map((refund) => ({ ...ownCells(refund), ...otherCells(refund, request) })),
    ifEmpty: '',
  });
};

export const refundRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, operations } = request;
    const shared = readFilter(request, deps.now());
    const status = choose(query, 'status', refundStatuses);
    const waits = choose(query, 'stage', stages);
    const toConfirm = waits === secondAdmin || null;
    const stage = waits === secondAdmin ? null : waits;
    const filter: RefundFilter = {
      ...shared,
      paymentId: null,
      orderId: null,
      status,
      stage,
      toConfirm,
    };
    const [found, applications] = await Promise.all([
      operations.refunds.list(filter, { after: readPosition(query), limit: pageSize + 1 }),
      visibleApplications(request),
    ]);
    const { rows, last } = pageOf(found);
    return page(
      'Refunds',
      html`${filterBar(request, {
        path: '/refunds',
        choices: [
          {
            label: 'Status',
            name: 'status',
            choices: refundStatuses,
            chosen: status,
            any: 'all',
            of: 'refundStatus',
          },
          {
            label: 'Stage',
            name: 'stage',
            choices: stages,
            chosen: waits,
            any: 'all',
            of: 'refundStage',
          },
          applicationChoice(request, applications, shared.application),
        ],
        others: saveView('/refunds', request),
      })}
        ${
          stage === 'by_hand' && rows.length > 0
            ? notice(
                'bad',
                'Nobody can know what became of these. Look into the books of the gateway, then decide.',
              )
            : ''
        }
        ${cells.table({
          caption: 'Refunds',
          isList: true,
          rows: rows.map((refund) => ({
            ...ownCells(refund),
            Order: html`<a href="/payments/${refund.paymentId}" title="${refund.paymentId}">${cut(refund.orderId)}</a>`,
            Application: link(`/applications/${refund.application}`, refund.application),
            ...otherCells(refund, request),
          })),
          ifEmpty: 'No refund matches this filter.',
        })}
        ${pageLinks('/refunds', query, last ? positionOf({ at: last.createdAt, id: last.id }) : null)}
        ${
          request.session.applications === null
            ? html`<p class="links">${link('/refunds/rules', 'Rules for refunds')}</p>`
            : ''
        }`,
    );
  };
  return [{ method: 'GET', path: '/refunds', role: 'viewer', owner: 'list', handle: list }];
};
