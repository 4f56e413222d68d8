import { html } from 'hono/html';
import { errorClasses } from '../../contract/attempt.ts';
import { eventKinds } from '../../contract/event.ts';
import { deliveryStatuses } from '../../contract/status.ts';
import type { DeliveryRow } from '../../postgres/console.ts';
import type { DeliveryFilter } from '../../postgres/delivery-filter.ts';
import { type Replay, replayable } from '../../postgres/replays.ts';
import { readDeliveryFilter, writeDeliveryFilter } from '../delivery-filter.ts';
import {
  listFilters,
  pageLinks,
  pageOf,
  pageSize,
  nextPosition,
  readEventPosition,
  select,
} from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { idLink, link, notice, state, nowrap } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const rowOf = (row: DeliveryRow): Row => ({
  Payment: idLink(`/payments/${row.paymentId}`, row.paymentId),
  Ended: row.createdAt,
  Application: html`${link(`/applications/${row.application}`, row.application)}${row.test ? ' (test)' : ''}`,
  Order: row.orderId,
  Event: nowrap(row.kind),
  Webhook: state(row.status),
  Attempts: row.attempts,
  'Last answer': [row.responseStatus, row.errorClass].filter((part) => part !== null).join(' · '),
  ...(row.status === 'pending' && { 'Next attempt': row.nextAttemptAt }),
});

const checkbox = ({ eventId, paymentId }: DeliveryRow): Html =>
  html`<input type="checkbox" name="event" value="${eventId}" aria-label="Select ${paymentId}" />`;

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

export const deliveryRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, session, operations } = request;
    const now = deps.now();
    const read = readDeliveryFilter(request, now);
    const filter = { ...read, delivery: read.delivery ?? ('exhausted' as const) };
    const { delivery: status, kind, errorClass } = filter;
    const [found, applications, running] = await Promise.all([
      deps.queries.listDeliveries(filter, { after: readEventPosition(query), limit: pageSize + 1 }),
      operations.applications.list(1_000),
      operations.replays.listRunning(runningShown),
    ]);
    const { rows, last } = pageOf(found);
    const own = html`${select('Webhook', 'status', { choices: deliveryStatuses, chosen: status })}
    ${select('Event', 'kind', { choices: eventKinds, chosen: kind, any: 'all' })}
    ${select('Last error', 'error', {
      choices: errorClasses,
      chosen: errorClass,
      any: 'any',
    })}`;
    const selects =
      session.role !== 'viewer' && rows.length > 0 && replayable.some((each) => each === status);
    const table = cells.table({
      caption: 'Deliveries',
      rows: rows.map((row) => ({ ...(selects && { Select: checkbox(row) }), ...rowOf(row) })),
      ifEmpty:
        status === 'exhausted' && kind === null && errorClass === null
          ? 'No webhook is exhausted: every event was delivered, or will be tried again.'
          : 'No delivery matches this filter.',
    });
    return page(
      'Deliveries',
      html`<p class="links">${link('/deliveries/replays', 'Recent replays')}</p>
      ${runningNotice(running)}
      ${listFilters(request, { own, applications: applications.map(({ slug }) => slug) })}
      ${selects ? selection({ ...filter, to: filter.to ?? now }, table) : table}
      ${pageLinks('/deliveries', query, nextPosition(last))}
      `,
    );
  };
  return [{ method: 'GET', path: '/deliveries', role: 'viewer', handle: list }];
};
