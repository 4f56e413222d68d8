import { html } from 'hono/html';
import { paymentIdPattern } from '../../contract/ids.ts';
import type { ListPosition } from '../../contract/list.ts';
import { formatMoney } from '../../contract/money.ts';
import { isTerminal, statuses } from '../../contract/status.ts';
import type { PaymentTimeline, TimelineEntry } from '../../operations/payments.ts';
import type { AttemptRecord, PaymentRecord } from '../../postgres/admin-payments.ts';
import type { PaymentRow } from '../../postgres/console.ts';
import {
  choose,
  listFilters,
  pageLinks,
  pageOf,
  positionOf,
  readFilter,
  select,
} from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { action, idLink, link, notice, state, time, escapeControls } from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const rowOf = (payment: PaymentRow): Row => ({
  Payment: idLink(`/payments/${payment.id}`, payment.id),
  Created: payment.createdAt,
  Application: html`${link(`/applications/${payment.application}`, payment.application)} ${
    payment.test ? html`<span class="soft">test</span>` : ''
  }`,
  Order: payment.orderId,
  Status: state(payment.status),
  Amount: html`<span class="amount">${formatMoney(payment)}</span>`,
  Gateway: payment.gateway,
  Webhook: payment.delivery === null ? null : state(payment.delivery),
});

interface Found {
  rows: PaymentRow[];
  next: ListPosition | null;
  /** The list has not looked at older payments. */
  searchedBackTo: Date | null;
}

/** A table of payments, also for the results of a search. */
export const paymentTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  rows: readonly PaymentRow[],
  ifEmpty: string,
): Html => cells.table({ caption: 'Payments', rows: rows.map(rowOf), ifEmpty });

const describeAttempt = (attempt: AttemptRecord, canSeeResponses: boolean): Row => ({
  Number: attempt.number,
  Started: attempt.startedAt,
  Trigger: attempt.trigger,
  Result:
    attempt.completedAt === null
      ? state('pending')
      : attempt.errorClass === null
        ? state('delivered')
        : html`${state('failed')} ${escapeControls(attempt.errorClass)}`,
  Status: attempt.responseStatus,
  Duration: attempt.durationMs === null ? null : `${attempt.durationMs} ms`,
  Answer: canSeeResponses ? answerOf(attempt) : html`<span class="soft">for operators</span>`,
});

/** The attempts to deliver a payment's event. Viewers do not see what receivers answered. */
export const attemptTable = (
  { cells, session }: Pick<PersonRequest, 'cells' | 'session'>,
  { attempts, eventId }: Pick<PaymentRecord, 'attempts' | 'eventId'>,
): Html =>
  cells.table({
    caption: 'Attempts to deliver',
    rows: attempts.map((attempt) => describeAttempt(attempt, session.role !== 'viewer')),
    ifEmpty:
      eventId === null
        ? 'The payment has not ended, so there is no event yet.'
        : 'No attempt was made yet.',
  });

const answerOf = ({ error, responseBody, responseTruncated }: AttemptRecord): Html =>
  html`${error === null ? '' : html`<bdi>${escapeControls(error)}</bdi>`}
  ${
    responseBody === null || responseBody === ''
      ? ''
      : html`<details>
          <summary>Answer${responseTruncated ? ', its beginning' : ''}</summary>
          <pre><bdi>${escapeControls(responseBody)}</bdi></pre>
        </details>`
  }`;

const entryOf = (
  entry: TimelineEntry,
  { isNext, eventId }: { isNext: boolean; eventId: string | null },
  { formatTime }: PersonRequest,
): Html =>
  html`<li class="${isNext ? 'next' : 'past'}">
    ${time(entry.at, formatTime)}
    <div>
      ${isNext ? html`<span class="soft">Next:</span> ` : ''}${escapeControls(entry.what)}
      ${entry.details === null ? '' : html`<span class="soft"><bdi>${escapeControls(entry.details)}</bdi></span>`}
      ${eventId === null ? '' : html`<a href="/events/${eventId}">its event</a>`}
    </div>
  </li>`;

/** The timeline shows the past and the next step. The attempts have a table of their own, which hides answers from viewers. */
const timelineOf = (
  { timeline, payment }: PaymentTimeline,
  now: Date,
  request: PersonRequest,
): Html =>
  html`<ol class="timeline">
    ${timeline
      .filter(({ what }) => !what.startsWith('attempt '))
      .map((entry) => {
        const eventId = entry.what === payment.status ? payment.eventId : null;
        return entryOf(entry, { isNext: entry.at > now, eventId }, request);
      })}
  </ol>`;

const isMoving = ({ payment }: PaymentTimeline): boolean =>
  !isTerminal(payment.status) || payment.delivery === 'pending';

/** No attempt follows by itself, or only later. */
const canReplay = ({ delivery, nextAttemptAt }: PaymentTimeline['payment'], now: Date): boolean =>
  delivery === 'exhausted' ||
  (delivery === 'pending' && nextAttemptAt !== null && nextAttemptAt > now);

const find = async (deps: Deps, request: PersonRequest, gateway: string | null): Promise<Found> => {
  const status = choose(request.query, 'status', statuses);
  const filter = { ...readFilter(request, deps.now()), status };
  const { rows: found, searchedBackTo } =
    gateway === null
      ? { rows: await deps.queries.listPayments(filter), searchedBackTo: null }
      : await deps.queries.listPaymentsByGateway({ ...filter, gateway });
  const { rows, last } = pageOf(found);
  if (last) return { rows, next: { at: last.createdAt, id: last.id }, searchedBackTo: null };
  if (searchedBackTo === null) return { rows, next: null, searchedBackTo };
  // Before every payment of the next millisecond.
  return { rows, next: { at: new Date(searchedBackTo.getTime() + 1), id: '0' }, searchedBackTo };
};

/** The table of the list. A list by gateway may end before it has looked at every payment. */
const foundPart = ({ rows, searchedBackTo }: Found, request: PersonRequest): Html => {
  if (searchedBackTo === null)
    return paymentTable(request, rows, 'No payment matches this filter.');
  const since = `The list has searched back to ${request.formatTime(searchedBackTo)}.`;
  return html`${paymentTable(request, rows, `None of the newest payments matches. ${since}`)}
  ${rows.length > 0 ? html`<p class="soft">${since} “Older” looks further.</p>` : ''}`;
};

const factsPart = (
  payment: PaymentRecord,
  description: string | null | undefined,
  { cells }: PersonRequest,
): Html =>
  cells.facts({
    Status: state(payment.status),
    Amount: formatMoney(payment),
    Application: html`${link(`/applications/${payment.application}`, payment.application)}${
      payment.test ? ' (test)' : ''
    }`,
    Order: payment.orderId,
    Description: description,
    Gateway: payment.gateway,
    'Gateway reference': payment.gatewayReference,
    'Tracking code': payment.trackingCode,
    Card: payment.cardPanMasked,
    Failure: isTerminal(payment.status) ? payment.failureCode : null,
    'Gateway message': [payment.gatewayCode, payment.gatewayMessage].filter(Boolean).join(' · '),
    'Duplicate of':
      payment.duplicateOf === null
        ? null
        : idLink(`/payments/${payment.duplicateOf}`, payment.duplicateOf),
    Webhook: payment.delivery === null ? null : state(payment.delivery),
  });

const exchangeTable = ({ exchanges }: PaymentRecord, { cells }: PersonRequest): Html =>
  cells.table({
    caption: 'Gateway exchanges',
    rows: exchanges.map((exchange) => ({
      Time: exchange.at,
      Call: exchange.operation,
      Result: exchange.result,
      Code: exchange.code,
      Message: exchange.message,
      Duration: `${exchange.durationMs} ms`,
    })),
    ifEmpty: 'The gateway was not called yet.',
  });

const metadataPart = (metadata: string): Html =>
  html`<h2>Metadata</h2>
    <pre><bdi>${escapeControls(metadata)}</bdi></pre>`;

const eventPart = ({ id, body }: { id: string; body: Buffer }): Html =>
  html`<h2 id="event">Event</h2>
    <p>${idLink(`/events/${id}`, id)}</p>
    <details>
      <summary>The bytes that every attempt sends</summary>
      <pre><bdi>${escapeControls(body.toString())}</bdi></pre>
    </details>`;

const paymentPart = async (
  deps: Deps,
  found: PaymentTimeline,
  request: PersonRequest,
): Promise<Html> => {
  const { payment, workflowUrl } = found;
  const [event, details] = await Promise.all([
    payment.eventId === null ? undefined : deps.queries.getEvent(payment.id),
    deps.queries.getDetails(payment.id),
  ]);
  return html`${
    payment.delivery === 'exhausted'
      ? notice('bad', 'All attempts failed. No further attempt is scheduled.')
      : ''
  }
    ${factsPart(payment, details?.description, request)}
    ${
      request.session.role !== 'viewer' && canReplay(payment, deps.now())
        ? html`<div class="actions">
            ${action(`/payments/${payment.id}/replay`, 'Replay the webhook')}
          </div>`
        : ''
    }
    <p class="links">
      ${workflowUrl === null ? '' : html`<a href="${workflowUrl}" rel="noreferrer">Workflow in Temporal</a>`}
      ${link(`/audit?subject=payment:${payment.id}`, 'Audit')}
    </p>
    <h2>Timeline</h2>
    ${timelineOf(found, deps.now(), request)}
    <h2>Attempts to deliver</h2>
    ${attemptTable(request, payment)}
    <h2>Gateway exchanges</h2>
    ${exchangeTable(payment, request)}
    ${details && details.metadata !== '{}' ? metadataPart(details.metadata) : ''}
    ${event ? eventPart(event) : ''}`;
};

export const paymentRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations } = request;
    const [applications, gateways] = await Promise.all([
      operations.applications.list(1_000),
      operations.gateways.list(),
    ]);
    const slugs = gateways.map(({ slug }) => slug);
    const gateway = choose(query, 'gateway', slugs);
    const found = await find(deps, request, gateway);
    const own = html`${select('Status', 'status', {
      choices: statuses,
      chosen: choose(query, 'status', statuses),
      any: 'all',
    })}
    ${select('Gateway', 'gateway', { choices: slugs, chosen: gateway, any: 'all' })}`;
    return page(
      'Payments',
      html`${listFilters(request, { own, applications: applications.map(({ slug }) => slug) })}
      ${foundPart(found, request)}
      ${pageLinks('/payments', query, found.next && positionOf(found.next))}`,
    );
  };

  const current = async (request: PersonRequest): Promise<Live> => {
    const { params, operations } = request;
    const found = await operations.payments.get(params['id'] ?? '');
    const address = isMoving(found) ? `/payments/${found.payment.id}/state` : null;
    return live(await paymentPart(deps, found, request), { address, seconds: 5 });
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const id = request.params['id'] ?? '';
    if (!paymentIdPattern.test(id))
      return page('Not found', html`<p>This is no payment id.</p>`, 404);
    const { content } = await current(request);
    return page(`Payment ${id}`, content);
  };

  return [
    { method: 'GET', path: '/payments', role: 'viewer', handle: list },
    { method: 'GET', path: '/payments/:id', role: 'viewer', handle: show },
    pollRoute('/payments/:id/state', current),
  ];
};
