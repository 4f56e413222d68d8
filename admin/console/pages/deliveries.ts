import { html } from 'hono/html';
import { errorClasses } from '../../../contract/attempt.ts';
import { eventKinds } from '../../../contract/event.ts';
import { labelOf } from '../../operations/labels.ts';
import type { DeliveryRow, EventSummary } from '../../../postgres/admin-events.ts';
import { type DeliveryFilter, deliveryStates } from '../../../postgres/delivery-filter.ts';
import { type Replay, replayable } from '../../../postgres/replays.ts';
import { readDeliveryFilter, writeDeliveryFilter } from '../delivery-filter.ts';
import { applicationChoice, type Choice, filterBar } from '../filter-bar.ts';
import { pageLinks, pageOf, pageSize, nextPosition, readEventPosition } from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { coded, cut, deliveryState, idLink, link, notice } from '../html.ts';
import { visibleApplications } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { answerOf } from './timeline.ts';
import { saveView } from './views.ts';
import { replayButton } from './event-actions.ts';

/** The words for the kind of an event, with the kind itself under the pointer. */
const eventName = (kind: string): Html => html`<span class="nowrap">${coded('event', kind)}</span>`;

const attemptsOf = (many: number): string => (many === 1 ? '1 attempt' : `${many} attempts`);

/** The state of a delivery, with the last answer. */
const stateOf = (row: DeliveryRow): Html => {
  const answer = answerOf(row);
  return html`${deliveryState(row.status, row.errorClass)}
    <span class="soft nowrap">${answer}${
      row.attempts > 0 ? `${answer ? ' · ' : ''}${attemptsOf(row.attempts)}` : ''
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
      Webhook: stateOf(event),
      Next: event.nextAttemptAt,
      Recorded: event.createdAt,
      Action: replayButton(event, request),
    })),
    ifEmpty: '',
  });

/** One delivery in one line, as all lists of them show it. */
export const deliveryRow = (row: DeliveryRow, request: PersonRequest): Row => ({
  Order: html`<a href="/payments/${row.paymentId}" title="${row.paymentId}">${cut(row.orderId)}</a>`,
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

export const kindChoice = (chosen: string | null): Choice => ({
  label: 'Event',
  name: 'kind',
  choices: eventKinds,
  chosen,
  any: 'all',
  of: 'event',
});

export const deliveryRoutes = (deps: Deps): Route[] => {
  /** Opens on those that an attempt has failed to deliver. */
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, operations, session } = request;
    const now = deps.now();
    const isOfService = session.applications === null;
    const read = readDeliveryFilter(request, now);
    const filter = { ...read, delivery: read.delivery ?? ('undelivered' as const) };
    const { delivery, kind, errorClass } = filter;
    const [found, applications, running] = await Promise.all([
      operations.events.list(filter, { after: readEventPosition(query), limit: pageSize + 1 }),
      visibleApplications(request),
      isOfService ? operations.replays.listRunning(runningShown, request.test) : [],
    ]);
    const { rows, last } = pageOf(found);
    const selects =
      isOfService &&
      session.role !== 'viewer' &&
      rows.length > 0 &&
      replayable.some((each) => each === delivery);
    const table = cells.table({
      caption: 'Deliveries',
      isList: true,
      rows: rows.map((row) => ({
        ...(selects && { Select: checkbox(row) }),
        ...deliveryRow(row, request),
      })),
      ifEmpty:
        delivery === 'undelivered' && kind === null && errorClass === null
          ? 'No webhook is failing or exhausted.'
          : 'No delivery matches this filter.',
    });
    return page(
      'Deliveries',
      html`${runningNotice(running)}
      ${filterBar(request, {
        path: '/deliveries',
        choices: [
          {
            label: 'Webhook',
            name: 'status',
            choices: deliveryStates,
            chosen: delivery,
            of: 'delivery',
          },
          kindChoice(kind),
          {
            label: 'Last error',
            name: 'error',
            choices: errorClasses,
            chosen: errorClass,
            any: 'any',
            of: 'attemptError',
          },
          applicationChoice(request, applications, filter.application),
        ],
        others: html`${saveView('/deliveries', request)}
          ${isOfService ? link('/deliveries/replays', 'Recent replays') : ''}`,
      })}
      ${selects ? selection({ ...filter, to: filter.to ?? now }, table) : table}
      ${pageLinks('/deliveries', query, nextPosition(last))}
      `,
    );
  };
  return [{ method: 'GET', path: '/deliveries', role: 'viewer', owner: 'list', handle: list }];
};
