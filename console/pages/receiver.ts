import { html } from 'hono/html';
import { receiverEventsMax, type ReceiverFigures } from '../../postgres/health.ts';
import { barChart } from '../chart.ts';
import type { Html } from '../html.ts';
import type { Deps, PersonRequest } from '../request.ts';

const hourMs = 3_600_000;
const shownHours = 24;

const series = [
  { name: 'accepted', className: 'paid' },
  { name: 'not accepted', className: 'other' },
] as const;

const ms = (duration: number | null): string | null =>
  duration === null ? null : `${duration} ms`;

const percent = ({ accepted, attempts }: ReceiverFigures): string =>
  `${((100 * accepted) / attempts).toFixed(1)} %`;

/** The health of an application's receiver over the last 24 hours. */
export const receiverPart = async (
  { health, now }: Pick<Deps, 'health' | 'now'>,
  application: string,
  { cells, zone }: PersonRequest,
): Promise<Html> => {
  const firstHour = (Math.floor(now().getTime() / hourMs) - shownHours + 1) * hourMs;
  const found = await health.receiver(application, new Date(firstHour));
  const whole = found.find(({ hour }) => hour === null);
  if (!whole || whole.attempts === 0)
    return html`<p class="empty">No webhook was sent in the last 24 hours.</p>`;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
  });
  const byHour = new Map(found.map((figures) => [figures.hour?.getTime(), figures]));
  const bars = Array.from({ length: shownHours }, (_, index) => {
    const at = firstHour + index * hourMs;
    const { accepted = 0, attempts = 0 } = byHour.get(at) ?? {};
    return { label: format.format(at), parts: [accepted, attempts - accepted] };
  });
  return html`${cells.facts({
    Accepted: `${percent(whole)} of ${whole.attempts} attempts`,
    'Half of the answers within': ms(whole.p50),
    '95 of 100 within': ms(whole.p95),
    'Last accepted': whole.lastAcceptedAt,
  })}
    <div class="chart">
      ${barChart({ title: 'Attempts of the last 24 hours, by hour and result', bars, series })}
      <details>
        <summary>The same as a table</summary>
        ${cells.table({
          caption: 'Attempts by hour',
          rows: found.flatMap((figures) =>
            figures.hour === null
              ? []
              : [
                  {
                    Hour: format.format(figures.hour),
                    Attempts: figures.attempts,
                    Accepted: percent(figures),
                    'Half within': ms(figures.p50),
                    '95 of 100 within': ms(figures.p95),
                    'Last accepted': figures.lastAcceptedAt,
                  },
                ],
          ),
          ifEmpty: '',
        })}
      </details>
    </div>
    <p class="soft">
      Attempts of the events of the last 24 hours, at most of the newest
      ${receiverEventsMax.toLocaleString('en')}.
    </p>`;
};
