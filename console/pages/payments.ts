import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { paymentIdPattern } from '../../contract/ids.ts';
import { formatMoney } from '../../contract/money.ts';
import { isTerminal, statuses } from '../../contract/status.ts';
import type { PaymentTimeline, TimelineEntry } from '../../admin/payments.ts';
import type { AttemptRecord } from '../../postgres/admin-payments.ts';
import type { PaymentRow } from '../../postgres/console.ts';
import {
  choose,
  listFilters,
  pageLinks,
  pageSize,
  positionOf,
  readFilter,
  select,
} from '../filters.ts';
import type { Cell, Html } from '../html.ts';
import { action, idLink, link, notice, state, time, visible } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const headings = [
  'Payment',
  'Created',
  'Application',
  'Order',
  'Status',
  'Amount',
  'Gateway',
  'Webhook',
];

const rowOf = (payment: PaymentRow): Cell[] => [
  idLink(`/payments/${payment.id}`, payment.id),
  payment.createdAt,
  html`${link(`/applications/${payment.application}`, payment.application)} ${
    payment.test ? html`<span class="soft">test</span>` : ''
  }`,
  payment.orderId,
  state(payment.status),
  html`<span class="amount">${formatMoney(payment)}</span>`,
  payment.gateway,
  payment.delivery === null ? null : state(payment.delivery),
];

/** A table of payments, also for the results of a search. */
export const paymentTable = (
  { cells }: Pick<PersonRequest, 'cells'>,
  rows: readonly PaymentRow[],
  ifEmpty: string,
): Html => cells.table({ caption: 'Payments', headings, rows: rows.map(rowOf), ifEmpty });

const describeAttempt = (attempt: AttemptRecord, sees: boolean): Cell[] => [
  attempt.number,
  attempt.startedAt,
  attempt.trigger,
  attempt.completedAt === null
    ? state('pending')
    : attempt.errorClass === null
      ? state('delivered')
      : html`${state('failed')} ${visible(attempt.errorClass)}`,
  attempt.responseStatus,
  attempt.durationMs === null ? null : `${attempt.durationMs} ms`,
  sees ? answerOf(attempt) : html`<span class="soft">for operators</span>`,
];

const answerOf = ({ error, responseBody, responseTruncated }: AttemptRecord): Html =>
  html`${error === null ? '' : html`<bdi>${visible(error)}</bdi>`}
  ${
    responseBody === null || responseBody === ''
      ? ''
      : html`<details>
          <summary>Answer${responseTruncated ? ', its beginning' : ''}</summary>
          <pre><bdi>${visible(responseBody)}</bdi></pre>
        </details>`
  }`;

const entryOf = (entry: TimelineEntry, isNext: boolean, request: PersonRequest): Html =>
  html`<li class="${isNext ? 'next' : 'past'}">
    ${time(entry.at, request.formatTime)}
    <span>${isNext ? html`<span class="soft">Next:</span> ` : ''}${visible(entry.what)}</span>
    ${entry.details === null ? '' : html`<div class="soft"><bdi>${visible(entry.details)}</bdi></div>`}
  </li>`;

/** What was and what comes. The attempts have a table of their own, which hides answers from viewers. */
const timelineOf = ({ timeline }: PaymentTimeline, now: Date, request: PersonRequest): Html =>
  html`<ol class="timeline">
    ${timeline
      .filter(({ what }) => !what.startsWith('attempt '))
      .map((entry) => entryOf(entry, entry.at > now, request))}
  </ol>`;

const isMoving = ({ payment }: PaymentTimeline): boolean =>
  !isTerminal(payment.status) || payment.delivery === 'pending';

export const paymentRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query } = request;
    const status = choose(query, 'status', statuses);
    const filter = readFilter(query, deps.now());
    const [found, applications] = await Promise.all([
      deps.queries.listPayments({ ...filter, status }),
      deps.operationsOf(request.session.name).applications.list(1_000),
    ]);
    const rows = found.slice(0, pageSize);
    const last = found.length > pageSize ? rows.at(-1) : undefined;
    const own = select('Status', 'status', { choices: statuses, chosen: status, any: 'all' });
    return page(
      'Payments',
      html`${listFilters(query, { own, applications: applications.map(({ slug }) => slug) })}
      ${paymentTable(request, rows, 'No payment matches this filter.')}
      ${pageLinks('/payments', query, {
        next: last ? positionOf({ at: last.createdAt, id: last.id }) : null,
      })}`,
    );
  };

  const read = async ({ params, session }: PersonRequest): Promise<PaymentTimeline> =>
    deps.operationsOf(session.name).payments.get(params['id'] ?? '');

  const parts = async (found: PaymentTimeline, request: PersonRequest): Promise<Html> => {
    const { payment } = found;
    const { cells, session } = request;
    const sees = session.role !== 'viewer';
    const event = payment.eventId === null ? undefined : await deps.queries.getEvent(payment.id);
    return html`${
      payment.delivery === 'exhausted'
        ? notice('bad', 'No attempt delivered the webhook, and none will follow by itself.')
        : ''
    }
      ${cells.facts([
        ['Status', state(payment.status)],
        ['Amount', formatMoney(payment)],
        [
          'Application',
          html`${link(`/applications/${payment.application}`, payment.application)}${
            payment.test ? ' (test)' : ''
          }`,
        ],
        ['Order', payment.orderId],
        ['Gateway', payment.gateway],
        ['Gateway reference', payment.gatewayReference],
        ['Tracking code', payment.trackingCode],
        ['Card', payment.cardPanMasked],
        ['Failure', isTerminal(payment.status) ? payment.failureCode : null],
        [
          'Gateway’s words',
          [payment.gatewayCode, payment.gatewayMessage].filter(Boolean).join(' · '),
        ],
        [
          'Duplicate of',
          payment.duplicateOf === null
            ? null
            : idLink(`/payments/${payment.duplicateOf}`, payment.duplicateOf),
        ],
        ['Webhook', payment.delivery === null ? null : state(payment.delivery)],
      ])}
      <div class="actions">
        ${
          payment.delivery === 'exhausted' && sees
            ? action(`/payments/${payment.id}/retrigger`, 'Re-trigger the webhook')
            : ''
        }
        ${
          found.workflowUrl === null
            ? ''
            : html`<a class="button" href="${found.workflowUrl}" rel="noreferrer">Workflow in Temporal</a>`
        }
        <a class="button" href="/audit?subject=payment:${payment.id}">Audit</a>
      </div>
      <h2>Timeline</h2>
      ${timelineOf(found, deps.now(), request)}
      <h2>Attempts to deliver</h2>
      ${cells.table({
        caption: 'Attempts to deliver',
        headings: ['Number', 'Started', 'Trigger', 'Result', 'Status', 'Duration', 'Answer'],
        rows: payment.attempts.map((attempt) => describeAttempt(attempt, sees)),
        ifEmpty:
          payment.eventId === null
            ? 'The payment has not ended, so there is no event yet.'
            : 'No attempt was made yet.',
      })}
      <h2>Gateway exchanges</h2>
      ${cells.table({
        caption: 'Gateway exchanges',
        headings: ['Time', 'Call', 'Result', 'Code', 'Message', 'Duration'],
        rows: payment.exchanges.map((exchange) => [
          exchange.at,
          exchange.operation,
          exchange.result,
          exchange.code,
          exchange.message,
          `${exchange.durationMs} ms`,
        ]),
        ifEmpty: 'The gateway was not called yet.',
      })}
      ${
        event
          ? html`<h2>Event</h2>
              <details>
                <summary>The bytes that every attempt sends</summary>
                <p class="id">${event.id}</p>
                <pre><bdi>${visible(event.body.toString())}</bdi></pre>
              </details>`
          : ''
      }`;
  };

  /** While something can still happen, the page asks for news; the mark says what it shows. */
  const current = async (request: PersonRequest): Promise<{ mark: string; content: Html }> => {
    const found = await read(request);
    const text = String(await parts(found, request));
    const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
    // It was escaped when it was made.
    const content = raw(text);
    if (!isMoving(found)) return { mark, content: html`<div>${content}</div>` };
    const address = `/payments/${found.payment.id}/state?seen=${mark}`;
    return {
      mark,
      content: html`<div hx-get="${address}" hx-trigger="every 5s" hx-swap="outerMorph">
        ${content}
      </div>`,
    };
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const id = request.params['id'] ?? '';
    if (!paymentIdPattern.test(id))
      return page('Not found', html`<p>This is no payment id.</p>`, 404);
    const { content } = await current(request);
    return page(`Payment ${id}`, content);
  };

  const refresh = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { mark, content } = await current(request);
    return { kind: 'part', content: mark === request.query.get('seen') ? undefined : content };
  };

  return [
    { method: 'GET', path: '/payments', role: 'viewer', handle: list },
    { method: 'GET', path: '/payments/:id', role: 'viewer', handle: show },
    { method: 'GET', path: '/payments/:id/state', role: 'viewer', isPolled: true, handle: refresh },
  ];
};
