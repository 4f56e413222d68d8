import { html } from 'hono/html';
import { paymentIdPattern } from '../../../contract/ids.ts';
import { type Language, languages } from '../../../contract/languages.ts';
import { formatMoney } from '../../../contract/money.ts';
import { amountLeft } from '../../../contract/payment-fields.ts';
import { isTerminal } from '../../../contract/status.ts';
import { byLabel } from '../../operations/fact.ts';
import { adviceText, isInDoubt, paymentFacts } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import type { PaymentTimeline } from '../../operations/payments.ts';
import type { EventRecord } from '../../../postgres/admin/events.ts';
import type { PaymentRecord } from '../../../postgres/admin/payments.ts';
import { atOnce } from '../actions.ts';
import type { Html } from '../html.ts';
import {
  action,
  copyable,
  escapeControls,
  codedState,
  deliveryState,
  idLink,
  link,
  notice,
  withCode,
} from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import { ofPayment } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { headOf, orderPath, serviceLinks, thingPage } from '../thing-page.ts';
import { disputesOfPayment } from './disputes.ts';
import { refundsOfPayment } from './refunds.ts';
import { eventsOfPayment } from './deliveries.ts';
import { attemptLine, type Line, recordedLine, timelineOf } from './timeline.ts';

const isMoving = ({ payment, events }: PaymentTimeline): boolean =>
  !isTerminal(payment.status) || events.some(({ status }) => status === 'pending');

/** Everything that happened, with the attempts and the gateway's exchanges, and what comes next. */
const linesOf = (
  { timeline, payment }: PaymentTimeline,
  now: Date,
  request: PersonRequest,
): Line[] => {
  const happened = timeline
    .filter(({ what }) => !/^attempt \d+ \(/.test(what))
    .map((each) =>
      recordedLine(
        each,
        now,
        each.what === labelOf('status', payment.status) && payment.eventId !== null
          ? html` <a href="/events/${payment.eventId}">Event</a>`
          : '',
      ),
    );
  const attempts = payment.attempts.map((attempt) => attemptLine(attempt, request));
  return [...happened, ...attempts].toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

const factsPart = (payment: PaymentRecord, { cells }: PersonRequest): Html => {
  const facts = paymentFacts(payment);
  return cells.facts({
    ...byLabel(facts, {
      failure:
        facts.failure.value && payment.failureCode && withCode('failure', payment.failureCode),
      application: link(`/applications/${payment.application}`, payment.application),
      link: payment.linkId && idLink(`/links/${payment.linkId}`, payment.linkId),
      duplicateOf:
        payment.duplicateOf && idLink(`/payments/${payment.duplicateOf}`, payment.duplicateOf),
    }),
    Webhook: payment.delivery && deliveryState(payment.delivery, payment.deliveryError),
  });
};

/** Also on the page of one that is not paid: its payer asks for the order. */
const isOfOrderPaidTwice = ({ payment, others }: PaymentTimeline): boolean =>
  [payment, ...others].some(({ paidTwice }) => paidTwice);

/** The notices stand above everything else. */
const noticesPart = (found: PaymentTimeline, { session }: PersonRequest): Html => {
  const { payment, events } = found;
  return html`${
    isOfOrderPaidTwice(found)
      ? notice(
          'bad',
          html`The order of this payment is paid more than once: ${link(orderPath(payment), 'all payments of the order')}.`,
        )
      : ''
  }
  ${
    isInDoubt(payment)
      ? notice(
          'bad',
          `The gateway may still hold money of this ${labelOf('status', payment.status)} payment. ${
            session.applications === null
              ? 'Look there, give it back if it is there, then mark it as checked.'
              : 'The operators of the service look there.'
          }`,
        )
      : ''
  }
  ${events
    .filter(({ status }) => status === 'exhausted')
    .map(({ kind }) =>
      notice(
        'bad',
        `All attempts of “${labelOf('event', kind)}” failed. No further attempt is scheduled.`,
      ),
    )}`;
};

const actionsPart = (
  payment: PaymentRecord,
  request: PersonRequest,
  { skipsTime }: Pick<Deps, 'skipsTime'>,
): Html => {
  const { session } = request;
  const path = `/payments/${payment.id}`;
  const isOperator = session.role !== 'viewer';
  const isOpen = !isTerminal(payment.status);
  const actions = [
    isOperator &&
      isOpen &&
      payment.gatewayReference !== null &&
      atOnce(`${path}/verify`, 'Ask the gateway now'),
    isOperator &&
      session.applications === null &&
      isInDoubt(payment) &&
      action(`${path}/checked`, 'Mark as checked'),
    session.role === 'admin' &&
      amountLeft(payment) > 0 &&
      action(`${path}/refund`, 'Give money back'),
    session.role === 'admin' &&
      session.applications === null &&
      isOpen &&
      payment.orderClaimedAt !== null &&
      action(`${path}/release-order`, 'Take the order from it'),
    skipsTime &&
      isOperator &&
      payment.test &&
      (payment.status !== 'paid' || payment.nextAttemptAt !== null) &&
      atOnce(`${path}/skip`, 'Skip to the next step'),
    isOperator && isOpen && action(`${path}/cancel`, 'Cancel the payment'),
  ].filter((each) => each !== false && each !== null);
  return actions.length === 0 ? html`` : html`<div class="actions">${actions}</div>`;
};

const advice = (text: string, language: Language): Html =>
  html`<p lang="${language}" dir="auto">${text} ${copyable(text, 'Copy the text')}</p>`;

/** The words of the payer's own page, for whoever answers a payer. */
const advicePart = (payment: PaymentRecord, now: Date): Html => {
  const [own, ...others] = languages.flatMap((language) => {
    const text = adviceText(payment, language, now);
    return text === null ? [] : [advice(text, language)];
  });
  return own === undefined
    ? html``
    : html`<h2 id="advice">What to tell the payer</h2>
        ${own}
        <details>
          <summary>In other languages</summary>
          ${others}
        </details>`;
};

/** The other payments of the order. At most one may be paid, where the application has it so. */
const othersPart = (others: PaymentTimeline['others'], { cells }: PersonRequest): Html =>
  html`<h2 id="order">Other payments of the order</h2>
    ${cells.table({
      caption: 'Other payments of the order',
      rows: others.map((other) => ({
        Payment: idLink(`/payments/${other.id}`, other.id),
        Amount: html`<span class="amount">${formatMoney(other)}</span>`,
        Status: codedState('status', other.status),
        Gateway: other.gateway,
        'Holds the order since': other.orderClaimedAt,
        Created: other.createdAt,
      })),
      ifEmpty: '',
    })}`;

const paymentPart = async (
  deps: Deps,
  found: PaymentTimeline,
  request: PersonRequest,
): Promise<Html> => {
  const { payment, events, others, workflowUrl } = found;
  const ended = events.find(
    ({ refundId, disputeId, linkId }) => (refundId ?? disputeId ?? linkId) === null,
  );
  const [own, refunds, disputes] = await Promise.all([
    ended && request.operations.events.get(ended.eventId),
    payment.status === 'paid' ? refundsOfPayment(payment.id, request) : undefined,
    payment.status === 'paid' ? disputesOfPayment(payment.id, request, deps.now()) : undefined,
  ]);
  return html`${headOf(payment, codedState('status', payment.status))} ${noticesPart(found, request)} ${actionsPart(payment, request, deps)}
    ${factsPart(payment, request)}
    ${serviceLinks(`payment:${payment.id}`, workflowUrl, request)}
    ${advicePart(payment, deps.now())}
    ${refunds ? html`<h2>Refunds</h2>${refunds}` : ''}
    ${disputes ? html`<h2>Disputes</h2>${disputes}` : ''}
    ${events.length > 0 ? html`<h2 id="events">Events</h2>${eventsOfPayment(events, request)}` : ''}
    ${others.length > 0 ? othersPart(others, request) : ''}
    <h2>Timeline</h2>
    ${timelineOf(linesOf(found, deps.now(), request), request)}
    ${payment.metadata === '{}' ? '' : metadataPart(payment.metadata)}
    ${own ? payloadPart(own.event) : ''}`;
};

const metadataPart = (metadata: string): Html =>
  html`<h2>Metadata</h2>
    <pre tabindex="0"><bdi>${escapeControls(metadata)}</bdi></pre>`;

const payloadPart = ({ kind, body }: EventRecord): Html =>
  html`<details>
    <summary>Payload of “${labelOf('event', kind)}”</summary>
    <pre tabindex="0"><bdi>${escapeControls(body.toString())}</bdi></pre>
  </details>`;

/** The page of one payment. */
export const paymentRoutes = (deps: Deps): Route[] => {
  const currentOf = async (request: PersonRequest) => {
    const found = await request.operations.payments.get(request.params.id);
    const address = isMoving(found) ? `/payments/${found.payment.id}/state` : null;
    const part = await live(await paymentPart(deps, found, request), { address, seconds: 5 });
    return { found, part };
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const id = request.params.id;
    if (!paymentIdPattern.test(id))
      return page('Not found', html`<p>This is no payment id.</p>`, 404);
    const { found, part } = await currentOf(request);
    return thingPage('Payment', found.payment, part);
  };

  return [
    { method: 'GET', path: '/payments/:id', role: 'viewer', owner: ofPayment, handle: show },
    pollRoute(
      '/payments/:id/state',
      async (request): Promise<Live> => (await currentOf(request)).part,
      ofPayment,
    ),
  ];
};
