import { html } from 'hono/html';
import type { EventRecord } from '../../../postgres/admin/events.ts';
import { deliveryChoices, readDeliveryFilter } from '../delivery-filter.ts';
import { deliveryState, escapeControls, idLink, link, withCode } from '../html.ts';
import { listPage } from '../list-page.ts';
import { ofEvent, ofSlug } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { deliveryRow, findDeliveries } from './deliveries.ts';
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
    const { query, params } = request;
    const { slug } = params;
    const filter = readDeliveryFilter(request, deps.now(), slug);
    const choices = deliveryChoices(query);
    return listPage(request, {
      title: `Events of ${slug}`,
      caption: 'Events',
      path: `/applications/${slug}/events`,
      choices: Object.values(choices),
      listed: await findDeliveries(request, filter),
      rowOf: (row) => deliveryRow(row, request),
      ifEmpty: 'The application has no such event.',
    });
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { params, operations, cells, session } = request;
    const { event, workflowUrl } = await operations.events.get(params.event);
    const { eventId, kind, paymentId, refundId, disputeId, linkId, application, status } = event;
    const replay = replayButton(event, request);
    return page(
      `Event ${eventId}`,
      html`${cells.facts({
        Kind: withCode('event', kind),
        Payment: event.hasPayment ? idLink(`/payments/${paymentId}`, paymentId) : null,
        Refund: refundId && idLink(`/refunds/${refundId}`, refundId),
        Dispute: disputeId && idLink(`/disputes/${disputeId}`, disputeId),
        Link: linkId && idLink(`/links/${linkId}`, linkId),
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
