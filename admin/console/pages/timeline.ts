import { html } from 'hono/html';
import type { AttemptRecord } from '../../../postgres/webhooks/deliveries.ts';
import { labelOf } from '../../operations/labels.ts';
import { coded, escapeControls, state, time, type Html } from '../html.ts';
import type { PersonRequest } from '../request.ts';

/** One line of a timeline. */
export interface Line {
  at: Date;
  what: Html | string;
  details: Html | string | null;
  /** It has not happened yet. */
  isNext?: boolean;
}

/** The receiver's status, or the reason why there is none. Null: it has not been asked. */
export const answerOf = ({
  responseStatus,
  errorClass,
}: Pick<AttemptRecord, 'responseStatus' | 'errorClass'>): Html | null => {
  if (responseStatus !== null) return html`answered ${responseStatus}`;
  return errorClass === null ? null : coded('attemptError', errorClass);
};

const textOf = ({ error, responseBody, responseTruncated }: AttemptRecord): Html =>
  html`${error === null ? '' : html`<bdi>${escapeControls(error)}</bdi>`}
  ${
    responseBody === null || responseBody === ''
      ? ''
      : html`<details>
          <summary>Answer${responseTruncated ? ', its beginning' : ''}</summary>
          <pre tabindex="0"><bdi>${escapeControls(responseBody)}</bdi></pre>
        </details>`
  }`;

/** An attempt to deliver an event. Viewers do not see what the receiver answered. */
export const attemptLine = (
  attempt: AttemptRecord,
  { session }: Pick<PersonRequest, 'session'>,
): Line => {
  const { number, trigger, completedAt, durationMs, errorClass } = attempt;
  const result = completedAt === null ? 'running' : errorClass === null ? 'delivered' : 'failed';
  const words = [
    answerOf(attempt),
    durationMs === null ? null : html`${durationMs} ms`,
    trigger === 'schedule' ? null : html`${labelOf('by', trigger)}`,
  ].filter((fact) => fact !== null);
  return {
    at: attempt.startedAt,
    what: html`Attempt ${number} ${state(result)}`,
    details: html`${words.map((word, index) => html`${index > 0 ? ' · ' : ''}${word}`)}
    ${session.role === 'viewer' ? '' : textOf(attempt)}`,
  };
};

/** A line of what the service has recorded, or expects. */
export const recordedLine = (
  { at, what, details }: { at: Date; what: string; details: string | null },
  now: Date,
  more: Html | '' = '',
): Line => ({
  at,
  what: html`<bdi>${escapeControls(what)}</bdi>${more}`,
  details: details === null ? null : html`<bdi>${escapeControls(details)}</bdi>`,
  isNext: at > now,
});

/** The past, and what comes next. */
export const timelineOf = (
  lines: readonly Line[],
  { formatTime }: Pick<PersonRequest, 'formatTime'>,
): Html =>
  html`<ol class="timeline">
    ${lines.map(
      ({ at, what, details, isNext = false }) =>
        html`<li class="${isNext ? 'next' : 'past'}">
          ${time(at, formatTime)}
          <div>
            ${isNext ? html`<span class="soft">Next:</span> ` : ''}${what}
            ${details === null ? '' : html`<span class="soft">${details}</span>`}
          </div>
        </li>`,
    )}
  </ol>`;
