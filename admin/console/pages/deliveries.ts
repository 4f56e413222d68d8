import { html } from 'hono/html';
import { eventIdPattern } from '../../../contract/ids.ts';
import { countOf } from '../../operations/fact.ts';
import { labelOf } from '../../operations/labels.ts';
import type { DeliveryRow, EventSummary } from '../../../postgres/admin/events.ts';
import type { DeliveryFilter } from '../../../postgres/webhooks/delivery-filter.ts';
import { type Replay, replayable } from '../../../postgres/webhooks/replays.ts';
import { deliveryChoices, readDeliveryFilter, writeDeliveryFilter } from '../delivery-filter.ts';
import { coded, deliveryState, type Html, idLink, link, notice, type Row } from '../html.ts';
import { findPage, type Listed, listPage } from '../list-page.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { orderLink } from '../thing-page.ts';
import { answerOf } from './timeline.ts';
import { replayButton } from './event-actions.ts';

/** The words for the kind of an event, with the kind itself under the pointer. */
const eventName = (kind: string): Html => html`<span class="nowrap">${coded('event', kind)}</span>`;

/** The state of a delivery, with the last answer. */
const stateOf = (row: DeliveryRow): Html => {
  const answer = answerOf(row);
  return html`${deliveryState(row.status, row.errorClass)}
    <span class="soft nowrap">${answer}${
      row.attempts > 0 ? `${answer ? ' · ' : ''}${countOf(row.attempts, 'attempt')}` : ''
    }</span>`;
};

/** The events of one payment, in the order of recording. */
export const eventsOfPayment = (events: readonly EventSummary[], request: PersonRequest): Html =>
  request.cells.table({
    caption: 'Events',
    isList: true,
    rows: events.map((event) => ({
      Event: html`<a href="/events/${event.eventId}">${eventName(event.kind)}</a>`,
      Refund: event.refundId && idLink(`/refunds/${event.refundId}`, event.refundId),
      Dispute: event.disputeId && idLink(`/disputes/${event.disputeId}`, event.disputeId),
      ...(events.some(({ linkId }) => linkId !== null) && {
        Link: event.linkId && idLink(`/links/${event.linkId}`, event.linkId),
      }),
      Webhook: stateOf(event),
      Next: event.nextAttemptAt,
      Recorded: event.createdAt,
      Action: replayButton(event, request),
    })),
    ifEmpty: '',
  });

/** One delivery in one line, as all lists of them show it. */
export const deliveryRow = (row: DeliveryRow, request: PersonRequest): Row => ({
  Order: orderLink(row),
  Event: html`<a href="/events/${row.eventId}">${eventName(row.kind)}</a>`,
  Application: link(`/applications/${row.application}`, row.application),
  Webhook: stateOf(row),
  Next: row.nextAttemptAt,
  Ended: row.createdAt,
  Action: replayButton(row, request),
});

const checkbox = ({ eventId, kind, paymentId }: DeliveryRow): Html =>
  html`<input type="checkbox" name="event" value="${eventId}" aria-label="Select “${labelOf('event', kind)}” of ${paymentId}" />`;

const runningShown = 5;

const runningNotice = (running: readonly Replay[]): Html =>
  html`${running.map(({ id, begun, refused, matched }) =>
    notice(
      'info',
      html`A replay is running: ${begun + refused} of ${matched}.
        <a href="/deliveries/replays/${id}">Show it</a>`,
    ),
  )}`;

/** The filter goes along, so that the replay takes what the list shows, and not only this page of it. */
const selection = (filter: DeliveryFilter, table: Html): Html =>
  html`<form method="get" action="/deliveries/replay">
    ${[...writeDeliveryFilter(filter)].map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <div class="actions">
      <button name="scope" value="selected">Replay the selected</button>
      <button name="scope" value="all">Replay all that match</button>
      <label class="choice" hidden data-selects-all>
        <input type="checkbox" /> Select this page <span class="soft"></span>
      </label>
    </div>
    ${table}
  </form>`;

/** The position of a delivery has the id of its event. */
export const findDeliveries = (
  request: PersonRequest,
  filter: DeliveryFilter,
): Promise<Listed<DeliveryRow>> =>
  findPage(
    request,
    (asked) => request.operations.events.list(filter, asked),
    ({ createdAt: at, eventId: id }) => ({ at, id }),
    eventIdPattern,
  );

export const deliveryRoutes = (deps: Deps): Route[] => {
  /** Opens on those that an attempt has failed to deliver. */
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations, session, test } = request;
    const now = deps.now();
    const isOfService = session.applications === null;
    const read = readDeliveryFilter(request, now);
    const filter = { ...read, delivery: read.delivery ?? ('undelivered' as const) };
    const { delivery, kind, errorClass } = filter;
    const choices = deliveryChoices(query);
    const [listed, running] = await Promise.all([
      findDeliveries(request, filter),
      isOfService ? operations.replays.listRunning(runningShown, test) : [],
    ]);
    const selects =
      isOfService &&
      session.role !== 'viewer' &&
      listed.rows.length > 0 &&
      replayable.some((each) => each === delivery);
    return listPage(request, {
      title: 'Deliveries',
      path: '/deliveries',
      choices: [
        { ...choices.delivery, chosen: delivery, any: undefined },
        choices.kind,
        choices.errorClass,
      ],
      application: filter.application,
      isSaved: true,
      others: isOfService ? link('/deliveries/replays', 'Recent replays') : undefined,
      listed,
      rowOf: (row) => ({
        ...(selects && { Select: checkbox(row) }),
        ...deliveryRow(row, request),
      }),
      ifEmpty:
        delivery === 'undelivered' && kind === null && errorClass === null
          ? 'No webhook is failing or exhausted.'
          : 'No delivery matches this filter.',
      parts: { first: runningNotice(running) },
      ...(selects && {
        around: (table: Html) => selection({ ...filter, to: filter.to ?? now }, table),
      }),
    });
  };
  return [{ method: 'GET', path: '/deliveries', role: 'viewer', owner: 'list', handle: list }];
};
