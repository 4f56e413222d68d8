import { html } from 'hono/html';
import { eventKinds } from '../../contract/event.ts';
import { eventIdPattern } from '../../contract/ids.ts';
import { deliveryStatuses } from '../../contract/status.ts';
import type { DeliveryRow } from '../../postgres/console.ts';
import { readDeliveryFilter } from '../delivery-filter.ts';
import {
  pageLinks,
  pageOf,
  pageSize,
  nextPosition,
  readEventPosition,
  select,
  timeFilters,
} from '../filters.ts';
import type { Row } from '../html.ts';
import { idLink, link, state, escapeControls, nowrap } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { attemptTable } from './payments.ts';

const rowOf = (row: DeliveryRow): Row => ({
  Time: row.createdAt,
  Event: idLink(`/events/${row.eventId}`, row.eventId),
  Kind: nowrap(row.kind),
  Payment: idLink(`/payments/${row.paymentId}`, row.paymentId),
  Order: row.orderId,
  Mode: row.test ? 'test' : 'live',
  Webhook: state(row.status),
});

const notFound = (text: string): ConsoleResponse => page('Not found', html`<p>${text}</p>`, 404);

export const eventRoutes = (deps: Deps): Route[] => {
  /** Lists the events of an application. */
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, params, operations } = request;
    const slug = params['slug'] ?? '';
    await operations.applications.get(slug);
    const filter = { ...readDeliveryFilter(request, deps.now()), application: slug };
    const { kind, delivery: status } = filter;
    const found = await deps.queries.listDeliveries(filter, {
      after: readEventPosition(query),
      limit: pageSize + 1,
    });
    const { rows, last } = pageOf(found);
    return page(
      `Events of ${slug}`,
      html`<form class="filters" method="get">
        ${select('Event', 'kind', { choices: eventKinds, chosen: kind, any: 'all' })}
        ${select('Webhook', 'status', { choices: deliveryStatuses, chosen: status, any: 'all' })}
        ${timeFilters(request)}
        <button>Filter</button>
      </form>
      ${cells.table({
        caption: 'Events',
        rows: rows.map(rowOf),
        ifEmpty: 'The application has no such event.',
      })}
      ${pageLinks(`/applications/${slug}/events`, query, nextPosition(last))}`,
    );
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { params, operations, cells } = request;
    const id = params['event'] ?? '';
    const paymentId = eventIdPattern.test(id) ? await deps.queries.findByEvent(id) : undefined;
    if (paymentId === undefined) return notFound('There is no such event.');
    const [{ payment }, event] = await Promise.all([
      operations.payments.get(paymentId),
      deps.queries.getEvent(paymentId),
    ]);
    const { application } = payment;
    return page(
      `Event ${id}`,
      html`${cells.facts({
        Kind: payment.eventKind,
        Payment: idLink(`/payments/${paymentId}`, paymentId),
        Order: payment.orderId,
        Application: link(`/applications/${application}`, application),
        Mode: payment.test ? 'test' : 'live',
        Recorded: payment.eventAt,
        Webhook: payment.delivery === null ? null : state(payment.delivery),
        Round: payment.round,
        'Next attempt': payment.nextAttemptAt,
      })}
      <p class="links">${link(`/applications/${application}/events`, `All events of ${application}`)}</p>
      <h2>The bytes that every attempt sends</h2>
      <pre><bdi>${escapeControls(event?.body.toString() ?? '')}</bdi></pre>
      <h2>Attempts to deliver</h2>
      ${attemptTable(request, payment)}`,
    );
  };

  return [
    { method: 'GET', path: '/applications/:slug/events', role: 'viewer', handle: list },
    { method: 'GET', path: '/events/:event', role: 'viewer', handle: show },
  ];
};
