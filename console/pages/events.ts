import { html } from 'hono/html';
import { eventKinds } from '../../contract/event.ts';
import { eventIdPattern } from '../../contract/ids.ts';
import type { PaymentRecord } from '../../postgres/admin-payments.ts';
import { deliveryStates } from '../../postgres/delivery-filter.ts';
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
import { escapeControls, idLink, link } from '../html.ts';
import { ofEvent, ofSlug } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { deliveryRow } from './deliveries.ts';
import { replayButton } from './payment-actions.ts';
import { attemptLine, timelineOf, webhookState, type Line } from './timeline.ts';

const notFound = (text: string): ConsoleResponse => page('Not found', html`<p>${text}</p>`, 404);

/** The attempts of an event and the next one. */
const linesOf = ({ attempts, nextAttemptAt }: PaymentRecord, request: PersonRequest): Line[] => [
  ...attempts.map((attempt) => attemptLine(attempt, request)),
  ...(nextAttemptAt === null
    ? []
    : [
        {
          at: nextAttemptAt,
          what: `Attempt ${(attempts.at(-1)?.number ?? 0) + 1}`,
          details: null,
          isNext: true,
        },
      ]),
];

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
        ${select('Webhook', 'status', { choices: deliveryStates, chosen: status, any: 'all' })}
        ${timeFilters(request)}
        <button>Filter</button>
      </form>
      ${cells.table({
        caption: 'Events',
        isList: true,
        rows: rows.map((row) => deliveryRow(row, request)),
        ifEmpty: 'The application has no such event.',
      })}
      ${pageLinks(`/applications/${slug}/events`, query, nextPosition(last))}`,
    );
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { params, operations, cells } = request;
    const id = params['event'] ?? '';
    const found = eventIdPattern.test(id) ? await deps.queries.findByEvent(id) : undefined;
    if (!found) return notFound('There is no such event.');
    const { paymentId, application } = found;
    const [{ payment }, event] = await Promise.all([
      operations.payments.get(paymentId),
      deps.queries.getEvent(paymentId),
    ]);
    const replay = replayButton(payment, request);
    return page(
      `Event ${id}`,
      html`${cells.facts({
        Kind: payment.eventKind,
        Payment: idLink(`/payments/${paymentId}`, paymentId),
        Order: payment.orderId,
        Application: link(`/applications/${application}`, application),
        Mode: payment.test ? 'test' : 'live',
        Recorded: payment.eventAt,
        Webhook: webhookState(payment),
      })}
      ${replay ? html`<div class="actions">${replay}</div>` : ''}
      <p class="links">${link(`/applications/${application}/events`, `All events of ${application}`)}</p>
      <h2>Attempts</h2>
      ${timelineOf(linesOf(payment, request), request)}
      <h2>Payload</h2>
      <pre tabindex="0"><bdi>${escapeControls(event?.body.toString() ?? '')}</bdi></pre>`,
    );
  };

  return [
    {
      method: 'GET',
      path: '/applications/:slug/events',
      role: 'viewer',
      owner: ofSlug,
      handle: list,
    },
    { method: 'GET', path: '/events/:event', role: 'viewer', owner: ofEvent(deps), handle: show },
  ];
};
