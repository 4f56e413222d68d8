import { html } from 'hono/html';
import type { EventRecord } from '../../../postgres/admin-events.ts';
import { deliveryStates } from '../../../postgres/delivery-filter.ts';
import { readDeliveryFilter } from '../delivery-filter.ts';
import { filterBar } from '../filter-bar.ts';
import { pageLinks, pageOf, pageSize, nextPosition, readEventPosition } from '../filters.ts';
import { deliveryState, escapeControls, idLink, link, withCode } from '../html.ts';
import { ofEvent, ofSlug } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { deliveryRow, kindChoice } from './deliveries.ts';
import { replayButton } from './event-actions.ts';
import { attemptLine, timelineOf, type Line } from './timeline.ts';

/** The attempts of an event and the next one. */
const linesOf = ({ attempts, nextAttemptAt }: EventRecord, request: PersonRequest): Line[] => [
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
    const slug = params.slug;
    const path = `/applications/${slug}/events`;
    const filter = { ...readDeliveryFilter(request, deps.now()), application: slug };
    const { kind, delivery: status } = filter;
    const found = await operations.events.list(filter, {
      after: readEventPosition(query),
      limit: pageSize + 1,
    });
    const { rows, last } = pageOf(found);
    return page(
      `Events of ${slug}`,
      html`${filterBar(request, {
        path,
        choices: [
          kindChoice(kind),
          {
            label: 'Webhook',
            name: 'status',
            choices: deliveryStates,
            chosen: status,
            any: 'all',
            of: 'delivery',
          },
        ],
      })}
      ${cells.table({
        caption: 'Events',
        isList: true,
        rows: rows.map((row) => deliveryRow(row, request)),
        ifEmpty: 'The application has no such event.',
      })}
      ${pageLinks(path, query, nextPosition(last))}`,
    );
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { params, operations, cells, session } = request;
    const { event, workflowUrl } = await operations.events.get(params.event);
    const { eventId, kind, paymentId, refundId, disputeId, application, status } = event;
    const replay = replayButton(event, request);
    return page(
      `Event ${eventId}`,
      html`${cells.facts({
        Kind: withCode('event', kind),
        Payment: idLink(`/payments/${paymentId}`, paymentId),
        Refund: refundId && idLink(`/refunds/${refundId}`, refundId),
        Dispute: disputeId && idLink(`/disputes/${disputeId}`, disputeId),
        Order: event.orderId,
        Application: link(`/applications/${application}`, application),
        Mode: event.test ? 'test' : 'live',
        Recorded: event.createdAt,
        Webhook: deliveryState(status, event.errorClass),
      })}
      ${replay ? html`<div class="actions">${replay}</div>` : ''}
      <p class="links">
        ${link(`/applications/${application}/events`, `All events of ${application}`)}
        ${
          session.applications === null && workflowUrl !== null
            ? html`<a href="${workflowUrl}" rel="noreferrer">Workflow in Temporal</a>`
            : ''
        }
      </p>
      <h2>Attempts</h2>
      ${timelineOf(linesOf(event, request), request)}
      <h2>Payload</h2>
      <pre tabindex="0"><bdi>${escapeControls(event.body.toString())}</bdi></pre>`,
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
