import { html } from 'hono/html';
import { byLabel } from '../../operations/fact.ts';
import { overRuleText, refundDetailFacts, waitsOf } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import type { RefundDetails } from '../../operations/refund-details.ts';
import type { RefundRecord } from '../../../postgres/admin/refunds.ts';
import type { Html, Row } from '../html.ts';
import {
  action,
  coded,
  codedState,
  escapeControls,
  idLink,
  notice,
  nowrap,
  withCode,
} from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import { ofRefund } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { applicationOf, headOf, serviceLinks, thingPage } from '../thing-page.ts';
import { eventsOfPayment } from './deliveries.ts';
import { recordedLine, timelineOf } from './timeline.ts';

/** Its status, and what it waits for or why it failed. */
export const refundState = (refund: RefundRecord): Html => {
  const { status, stage, failureCode } = refund;
  const waits = waitsOf(refund);
  const words =
    waits !== ''
      ? html`<span ${stage && html`title="${stage}"`}>${waits}</span>`
      : failureCode && coded('refundFailure', failureCode);
  return html`${codedState('refundStatus', status)}${words && html` <span class="soft">${words}</span>`}`;
};

/** The admin, or the token of the application. */
export const askerOf = ({ askedBy, token, requestedBy }: RefundRecord): Html => {
  if (askedBy !== null) return html`<bdi>${escapeControls(askedBy)}</bdi>`;
  return token === null
    ? nowrap(labelOf('requester', requestedBy))
    : html`token <code class="id">${token}</code>`;
};

/** Whether this person has asked for what another one must confirm. */
export const isOwnWish = (
  { askedBy }: Pick<RefundRecord, 'askedBy'>,
  { session }: Pick<PersonRequest, 'session'>,
): boolean => askedBy !== null && isSamePerson(askedBy, session.name);

/** The actions of a person on a refund; null: there is none. */
export const refundButtons = (
  refund: RefundRecord,
  request: Pick<PersonRequest, 'session'>,
): Html | null => {
  const { id, status, stage, toConfirm, waitsForApplication, cancelRequested } = refund;
  if (request.session.role !== 'admin' || cancelRequested || status !== 'pending') return null;
  const button = (path: string, label: string) => action(`/refunds/${id}/${path}`, label);
  if (toConfirm)
    return isOwnWish(refund, request)
      ? button('cancel', 'Call off')
      : html`${button('confirm', 'Confirm')} ${button('refuse', 'Refuse')}`;
  if (stage === 'reserved')
    return html`${button('cancel', 'Call off')} ${waitsForApplication ? button('release', 'Let it go on') : ''}`;
  if (stage !== 'by_hand') return null;
  return html`${button('succeeded', 'It was given back')} ${button('failed', 'It was not')}`;
};

/** Everything that one signs for. */
export const refundCells = (details: RefundDetails): Row => {
  const { refund } = details;
  const { refund: _, ...facts } = refundDetailFacts(details);
  return byLabel(facts, {
    payment: idLink(`/payments/${refund.paymentId}`, refund.paymentId),
    application: applicationOf(refund),
    status: refundState(refund),
    // The state says it.
    stage: null,
    failure: refund.failureCode && withCode('refundFailure', refund.failureCode),
    askedBy: askerOf(refund),
  });
};

export const refundDetails = ({ operations, params, session }: PersonRequest) =>
  operations.refunds.details(params.id, { withAudit: session.applications === null });

const noticesPart = ({ refund }: RefundDetails, request: PersonRequest): Html => {
  if (refund.stage === 'by_hand')
    return notice(
      'bad',
      'Nobody can know what became of it. Look into the books of the gateway, then decide.',
    );
  if (refund.status !== 'pending' || !refund.toConfirm || refund.cancelRequested) return html``;
  const { overRule, currency, askedBy } = refund;
  const isOwn = isOwnWish(refund, request);
  const why =
    overRule && overRuleText(overRule, { currency, asker: isOwn ? null : (askedBy ?? '') });
  return notice(
    'info',
    `${isOwn ? 'You have asked for it. ' : ''}${why ?? 'Another admin must confirm it.'} Until then the gateway is not told.`,
  );
};

const refundPart = (details: RefundDetails, request: PersonRequest, now: Date): Html => {
  const { refund, events, timeline, workflowUrl } = details;
  const buttons = refundButtons(refund, request);
  return html`${headOf(refund, refundState(refund))} ${noticesPart(details, request)}
    ${buttons && html`<div class="actions">${buttons}</div>`}
    ${request.cells.facts(refundCells(details))}
    ${serviceLinks(`refund:${refund.id}`, workflowUrl, request)}
    ${events.length > 0 ? html`<h2 id="events">Events</h2>${eventsOfPayment(events, request)}` : ''}
    <h2>Timeline</h2>
    ${timelineOf(
      timeline.map((each) => recordedLine(each, now)),
      request,
    )}`;
};

/** The page of one refund. */
export const refundPageRoutes = ({ now }: Pick<Deps, 'now'>): Route[] => {
  const currentOf = async (request: PersonRequest) => {
    const details = await refundDetails(request);
    const { refund, events } = details;
    const isMoving =
      refund.status === 'pending' || events.some(({ status }) => status === 'pending');
    const address = isMoving ? `/refunds/${refund.id}/state` : null;
    const part = await live(refundPart(details, request, now()), { address, seconds: 5 });
    return { refund, part };
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { refund, part } = await currentOf(request);
    return thingPage('Refund', refund, { ...part, tab: 'Refund of ' });
  };

  return [
    { method: 'GET', path: '/refunds/:id', role: 'viewer', owner: ofRefund, handle: show },
    pollRoute(
      '/refunds/:id/state',
      async (request): Promise<Live> => (await currentOf(request)).part,
      ofRefund,
    ),
  ];
};
