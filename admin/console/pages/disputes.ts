import { html } from 'hono/html';
import { disputeStages, disputeStatuses } from '../../../contract/dispute.ts';
import { formatMoney } from '../../../contract/money.ts';
import {
  type DisputeFilter,
  type DisputeRecord,
  everyDispute,
} from '../../../postgres/admin/disputes.ts';
import { choiceOf, type Choices, chosenOf } from '../filter-bar.ts';
import { readFilter } from '../filters.ts';
import { coded, codedState, type Html, link, type Row, shortId } from '../html.ts';
import { findPage, firstPage, listPage, partOf } from '../list-page.ts';
import { visibleGateways } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { orderLink } from '../thing-page.ts';
import { answerTime } from './dispute.ts';

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

const rowOf = (dispute: DisputeRecord, now: Date): Row => ({
  ...ownCells(dispute),
  Order: orderLink(dispute),
  Application: link(`/applications/${dispute.application}`, dispute.application),
  Gateway: dispute.gateway,
  ...otherCells(dispute, now),
});

/** A table of disputes of any payments. */
export const disputeTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  disputes: readonly DisputeRecord[],
  { now, ifEmpty }: { now: Date; ifEmpty: string },
): Html => {
  const rows = disputes.map((dispute) => rowOf(dispute, now));
  return cells.table({ caption: 'Disputes', isList: true, rows, ifEmpty });
};

/** The disputes of one payment, on its page. */
export const disputesOfPayment = async (
  paymentId: string,
  request: PersonRequest,
  now: Date,
): Promise<Html | undefined> => {
  const ofPayment = { ...everyDispute, paymentId };
  const found = await request.operations.disputes.list(ofPayment, firstPage);
  const rows = found.map((dispute) => ({ ...ownCells(dispute), ...otherCells(dispute, now) }));
  return partOf('Disputes', rows, request);
};

export const disputeRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations } = request;
    const gateways = await visibleGateways(request);
    const choices = {
      status: choiceOf(query, 'status', disputeStatuses, { label: 'Status', of: 'disputeStatus' }),
      stage: choiceOf(query, 'stage', disputeStages, { label: 'Stage', of: 'disputeStage' }),
      gateway: choiceOf(query, 'gateway', gateways, { label: 'Gateway' }),
    } satisfies Choices<DisputeFilter>;
    const filter: DisputeFilter = {
      ...everyDispute,
      ...readFilter(request, deps.now()),
      ...chosenOf(choices),
    };
    return listPage(request, {
      title: 'Disputes',
      path: '/disputes',
      choices: Object.values(choices),
      application: filter.application,
      isSaved: true,
      listed: await findPage(
        request,
        (asked) => operations.disputes.list(filter, asked),
        ({ openedAt: at, id }) => ({ at, id }),
      ),
      rowOf: (dispute) => rowOf(dispute, deps.now()),
      ifEmpty: 'No dispute matches this filter.',
    });
  };
  return [{ method: 'GET', path: '/disputes', role: 'viewer', owner: 'list', handle: list }];
};
