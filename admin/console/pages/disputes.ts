import { html } from 'hono/html';
import { disputeStages, disputeStatuses } from '../../../contract/dispute.ts';
import { formatMoney } from '../../../contract/money.ts';
import {
  type DisputeFilter,
  type DisputeRecord,
  everyDispute,
} from '../../../postgres/admin-disputes.ts';
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
import { coded, codedState, cut, link, shortId } from '../html.ts';
import { visibleApplications } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { answerTime } from './dispute.ts';
import { saveView } from './views.ts';

/** Cells that tell disputes of one payment apart. The page of each has the rest. */
const ownCells = (dispute: DisputeRecord): Row => ({
  Dispute: shortId(`/disputes/${dispute.id}`, dispute.id),
  Amount: html`<span class="amount">${formatMoney(dispute)}</span>`,
  Status: html`${codedState('disputeStatus', dispute.status)} <span class="soft">${coded('disputeStage', dispute.stage)}</span>`,
});

const otherCells = (dispute: DisputeRecord, now: Date): Row => ({
  'Time left': answerTime(dispute, now),
  Opened: dispute.openedAt,
});

/** A table of disputes of any payments. */
export const disputeTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  disputes: readonly DisputeRecord[],
  { now, ifEmpty }: { now: Date; ifEmpty: string },
): Html =>
  cells.table({
    caption: 'Disputes',
    isList: true,
    rows: disputes.map((dispute) => ({
      ...ownCells(dispute),
      Order: html`<a href="/payments/${dispute.paymentId}" title="${dispute.paymentId}">${cut(dispute.orderId)}</a>`,
      Application: link(`/applications/${dispute.application}`, dispute.application),
      Gateway: dispute.gateway,
      ...otherCells(dispute, now),
    })),
    ifEmpty,
  });

/** The disputes of one payment, on its page. */
export const disputesOfPayment = async (
  paymentId: string,
  request: PersonRequest,
  now: Date,
): Promise<Html | undefined> => {
  const found = await request.operations.disputes.list(
    { ...everyDispute, paymentId },
    { after: null, limit: pageSize },
  );
  if (found.length === 0) return undefined;
  return request.cells.table({
    caption: 'Disputes',
    isList: true,
    rows: found.map((dispute) => ({ ...ownCells(dispute), ...otherCells(dispute, now) })),
    ifEmpty: '',
  });
};

export const disputeRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations } = request;
    const shared = readFilter(request, deps.now());
    const [applications, accounts] = await Promise.all([
      visibleApplications(request),
      operations.gateways.list(),
    ]);
    const gateways = accounts.map(({ slug }) => slug);
    const filter: DisputeFilter = {
      ...shared,
      paymentId: null,
      status: choose(query, 'status', disputeStatuses),
      stage: choose(query, 'stage', disputeStages),
      gateway: choose(query, 'gateway', gateways),
    };
    const found = await operations.disputes.list(filter, {
      after: readPosition(query),
      limit: pageSize + 1,
    });
    const { rows, last } = pageOf(found);
    return page(
      'Disputes',
      html`${filterBar(request, {
        path: '/disputes',
        choices: [
          {
            label: 'Status',
            name: 'status',
            choices: disputeStatuses,
            chosen: filter.status,
            any: 'all',
            of: 'disputeStatus',
          },
          {
            label: 'Stage',
            name: 'stage',
            choices: disputeStages,
            chosen: filter.stage,
            any: 'all',
            of: 'disputeStage',
          },
          {
            label: 'Gateway',
            name: 'gateway',
            choices: gateways,
            chosen: filter.gateway,
            any: 'all',
          },
          applicationChoice(request, applications, shared.application),
        ],
        others: saveView('/disputes', request),
      })}
      ${disputeTable(request, rows, { now: deps.now(), ifEmpty: 'No dispute matches this filter.' })}
      ${pageLinks('/disputes', query, last ? positionOf({ at: last.openedAt, id: last.id }) : null)}`,
    );
  };
  return [{ method: 'GET', path: '/disputes', role: 'viewer', owner: 'list', handle: list }];
};
