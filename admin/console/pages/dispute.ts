import { html } from 'hono/html';
import { isDisputeOpen } from '../../../contract/dispute.ts';
import { dayMs } from '../../../contract/time.ts';
import type { DisputeRecord } from '../../../postgres/admin/disputes.ts';
import type { DisputeDetails } from '../../operations/disputes.ts';
import { byLabel } from '../../operations/fact.ts';
import { disputeAdvice, disputeDetailFacts, timeLeft } from '../../operations/facts.ts';
import type { Html, Row } from '../html.ts';
import { codedState, escapeControls, idLink, marked, notice, time } from '../html.ts';
import { ofDispute } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { applicationOf, headOf, thingPage } from '../thing-page.ts';
import { eventsOfPayment } from './deliveries.ts';

/** From then on an answer is urgent. */
const urgentMs = 3 * dayMs;

export const isUrgent = (respondBy: Date, now: Date): boolean =>
  respondBy.getTime() - now.getTime() <= urgentMs;

/** The time that a person has to answer; null: nobody can answer any more. */
export const answerTime = ({ respondBy }: DisputeRecord, now: Date): Html | null => {
  const left = respondBy && timeLeft(respondBy, now);
  if (!respondBy || left === null) return null;
  return isUrgent(respondBy, now) ? marked('bad', left) : html`${left}`;
};

/** The code of a gateway in words, with the code as the gateway has it. */
const gatewayCode = (code: string): Html => {
  const words = code.replaceAll('_', ' ');
  return html`<bdi>${escapeControls(words)}</bdi>${
    words === code ? '' : html` <code class="soft">${escapeControls(code)}</code>`
  }`;
};

const cellsOf = (details: DisputeDetails, now: Date): Row => {
  const { dispute } = details;
  const { dispute: _, ...facts } = disputeDetailFacts(details, now);
  return byLabel(facts, {
    status: codedState('disputeStatus', dispute.status),
    timeLeft: answerTime(dispute, now),
    reason: dispute.reason && gatewayCode(dispute.reason),
    payment: idLink(`/payments/${dispute.paymentId}`, dispute.paymentId),
    application: applicationOf(dispute),
  });
};

/** The advice of the moment, with a link for those who have a login at the gateway. */
const advicePart = (
  details: DisputeDetails,
  { session, formatTime }: PersonRequest,
  now: Date,
): Html => {
  const { dispute, gatewayUrl } = details;
  const { answers, text } = disputeAdvice(details, now);
  const { respondBy } = dispute;
  const isOfService = session.applications === null;
  const until =
    answers && respondBy ? html`<strong>Until ${time(respondBy, formatTime)}.</strong> ` : '';
  const others =
    answers && !isOfService ? ' The operators of the service have the login there.' : '';
  return html`${notice(
    answers && respondBy && isUrgent(respondBy, now) ? 'bad' : 'info',
    html`${until}${text}${others}`,
  )}
  ${
    isOfService && gatewayUrl !== null
      ? html`<p class="links"><a href="${gatewayUrl}" rel="noreferrer">${answers ? 'Answer it' : 'Look at it'} at ${dispute.gateway}</a></p>`
      : ''
  }`;
};

/** The page of one dispute. The gateway decides; the service reads. */
export const disputePageRoutes = ({ now }: Pick<Deps, 'now'>): Route[] => {
  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const details = await request.operations.disputes.details(request.params.id);
    const { dispute, events } = details;
    return thingPage('Dispute', dispute, {
      tab: 'Dispute of ',
      content: html`${headOf(dispute, codedState('disputeStatus', dispute.status))}
        ${advicePart(details, request, now())} ${request.cells.facts(cellsOf(details, now()))}
        ${
          isDisputeOpen(dispute)
            ? html`<p class="soft">The service asks the gateway daily, and within a minute of its notification.</p>`
            : ''
        }
        ${events.length > 0 ? html`<h2 id="events">Events</h2>${eventsOfPayment(events, request)}` : ''}`,
    });
  };

  return [{ method: 'GET', path: '/disputes/:id', role: 'viewer', owner: ofDispute, handle: show }];
};
