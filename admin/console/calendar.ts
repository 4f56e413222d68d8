import { html } from 'hono/html';
import { monthOf } from '../operations/account-month.ts';
import type { ComparedDay } from '../../postgres/accounts/days.ts';
import type { Html } from './html.ts';
import { hourMs } from '../../contract/time.ts';

const monthPattern = /^2\d{3}-(?:0[1-9]|1[0-2])$/;
const dayPattern = /^2\d{3}-\d\d-\d\d$/;

/** Reads YYYY-MM of the years 2000 to 2999; null for any other text. */
export const readMonth = (text: string): string | null => (monthPattern.test(text) ? text : null);

/** Whether the text is a day of these years, YYYY-MM-DD, that exists. */
export const isDay = (text: string): boolean => {
  const at = new Date(text);
  return dayPattern.test(text) && !Number.isNaN(at.getTime()) && dateOf(at) === text;
};

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);

const numbersOf = (month: string): [year: number, month: number] => [
  Number(month.slice(0, 4)),
  Number(month.slice(5)),
];

/** The month that comes so many months later. */
export const addMonths = (text: string, count: number): string => {
  const [year, month] = numbersOf(text);
  return dateOf(new Date(Date.UTC(year, month - 1 + count))).slice(0, 7);
};

export const addDays = (day: string, count: number): string => {
  const at = new Date(day);
  at.setUTCDate(at.getUTCDate() + count);
  return dateOf(at);
};

/** The widest offset from UTC. */
const earliestZoneMs = 14 * hourMs;

/** The last day that has begun in any zone: each account has its own. */
export const lastBegunDay = (now: Date): string => dateOf(new Date(now.getTime() + earliestZoneMs));

const monthName = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** `November 2026`. */
export const nameOfMonth = (month: string): string => monthName.format(new Date(`${month}-01`));

/** A sign or a word tells the state of a day, as well as its colour. */
const stateOf = ({ open, closedAt }: ComparedDay): Html => {
  if (open > 0)
    return html`<span class="state bad"><span aria-hidden="true">▲</span> ${open}<span class="hidden"> open ${open === 1 ? 'difference' : 'differences'}</span></span>`;
  return closedAt === null
    ? html`<span class="state open">not closed</span>`
    : html`<span class="state good"><span aria-hidden="true">✓</span><span class="hidden"> closed</span></span>`;
};

/** Monday is the first day of a week. */
const weekdayOf = (day: string): number => ((new Date(day).getUTCDay() + 6) % 7) + 1;

/** A month of one gateway: its days up to today lead to their pages, and those that were compared say what was found. */
export const calendar = ({
  month,
  label,
  today,
  days,
  addressOf,
}: {
  month: string;
  label: string;
  today: string;
  days: readonly ComparedDay[];
  addressOf: (day: string) => string;
}): Html => {
  const compared = new Map(days.map((each) => [each.day, each]));
  const first = `${month}-01`;
  const all = Array.from({ length: Number(monthOf(month).to.slice(8)) }, (_, n) =>
    addDays(first, n),
  );
  const cell = (day: string): Html => {
    const found = compared.get(day);
    const number = html`<time datetime="${day}">${Number(day.slice(8))}</time>`;
    return found || day <= today
      ? html`<a ${found ? html`class="compared"` : ''} href="${addressOf(day)}">${number} ${found ? stateOf(found) : ''}</a>`
      : html`<span class="soft">${number}</span>`;
  };
  return html`<div class="weekdays" aria-hidden="true">
      ${['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].map((name) => html`<span>${name}</span>`)}
    </div>
    <ol class="days" aria-label="${label}">
      ${all.map(
        (day) =>
          html`<li ${day === first ? html`class="from-${weekdayOf(day)}"` : ''}>${cell(day)}</li>`,
      )}
    </ol>`;
};
