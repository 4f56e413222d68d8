import { html } from 'hono/html';
import { receiverEventsMax, type ReceiverFigures } from '../../../postgres/console/health.ts';
import { countOf } from '../../operations/fact.ts';
import { chartPart } from '../chart.ts';
import { hourIn, hoursUntil } from '../hours.ts';
import { limits } from '../../../contract/limits.ts';
import { coded, codedState, link, type Html } from '../html.ts';
import type { Deps, PersonRequest } from '../request.ts';

const series = [
  { name: 'accepted', className: 'paid' },
  { name: 'not accepted', className: 'other' },
] as const;

const ms = (duration: number | null): string | null =>
  duration === null ? null : `${duration} ms`;

const percent = ({ accepted, attempts }: Pick<ReceiverFigures, 'accepted' | 'attempts'>): string =>
  // Rounded down: 100 % means all.
  `${(Math.floor((1000 * accepted) / attempts) / 10).toFixed(1)} %`;

/** The health of an application's receiver, and its attempts of the last 24 hours. */
export const receiverPart = async (
  { health, now }: Pick<Deps, 'health' | 'now'>,
  application: string,
  request: PersonRequest,
): Promise<Html> => html`
  ${await statePart(application, request)} ${await attemptsPart({ health, now }, application, request)}
`;

const many = (count: number): string =>
  count >= limits.receiverEvents
    ? `${limits.receiverEvents.toLocaleString('en')} or more`
    : String(count);

const statePart = async (
  application: string,
  { cells, operations, test }: PersonRequest,
): Promise<Html> => {
  const found = await operations.applications.receiver(application, test);
  const { shown, since, waiting, exhausted, lastError, nextAttemptAt } = found;
  const filter = `application=${application}`;
  const linked = (count: number, status: string) =>
    count === 0 ? '0' : link(`/deliveries?status=${status}&${filter}`, many(count));
  return cells.facts({
    State: codedState('receiver', shown),
    Since: since,
    'Events that wait': linked(waiting, 'pending'),
    'Exhausted events': linked(exhausted, 'exhausted'),
    'Last error': lastError === null ? null : coded('attemptError', lastError),
    'Next attempt': nextAttemptAt,
  });
};

const attemptsPart = async (
  { health, now }: Pick<Deps, 'health' | 'now'>,
  application: string,
  { cells, zone, test }: PersonRequest,
): Promise<Html> => {
  const at = now();
  const [firstHour = at, ...others] = hoursUntil(at);
  const found = await health.receiver(application, test, firstHour);
  const whole = found.find(({ hour }) => hour === null);
  if (!whole || whole.attempts === 0)
    return html`<p class="empty">No event of the last 24 hours was sent.</p>`;
  const label = hourIn(zone);
  const byHour = new Map(found.map((figures) => [figures.hour?.getTime(), figures]));
  const bars = [firstHour, ...others].map((hour) => {
    const { accepted = 0, attempts = 0 } = byHour.get(hour.getTime()) ?? {};
    return { label: label(hour), parts: [accepted, attempts - accepted] };
  });
  const rows = found.flatMap(({ hour, ...figures }) =>
    hour === null
      ? []
      : [
          {
            Hour: label(hour),
            Attempts: figures.attempts,
            Accepted: percent(figures),
            'Half within': ms(figures.p50),
            '95 of 100 within': ms(figures.p95),
            'Last accepted': figures.lastAcceptedAt,
          },
        ],
  );
  return html`${cells.facts({
    Accepted: `${percent(whole)} of ${countOf(whole.attempts, 'attempt')}`,
    'Half of the answers within': ms(whole.p50),
    '95 of 100 within': ms(whole.p95),
    'Last accepted': whole.lastAcceptedAt,
  })}
    ${chartPart(
      { title: 'Attempts of the last 24 hours, by hour and result', bars, series },
      { caption: 'Attempts by hour', rows },
      cells,
    )}
    <p class="soft">
      Attempts of the events of the last 24 hours, at most of the newest
      ${receiverEventsMax.toLocaleString('en')}.
    </p>`;
};
