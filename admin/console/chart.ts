import { html } from 'hono/html';
import type { Cells, Html, Row } from './html.ts';

export interface Bar {
  label: string;
  /** From the bottom up. */
  parts: readonly number[];
}

export interface Series {
  name: string;
  /** Its look in the style sheet. */
  className: 'paid' | 'other' | 'waiting';
}

const size = { width: 1080, height: 220, left: 44, bottom: 22, top: 8 } as const;

/** 1, 2 or 5 times a power of ten: the least that is at least `value`. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
};

/** Stacked bars. The numbers stand in a table beside it, so the picture is one image to a screen reader. */
const barChart = ({
  title,
  bars,
  series,
}: {
  title: string;
  bars: readonly Bar[];
  series: readonly Series[];
}): Html => {
  const most = roundUp(Math.max(1, ...bars.map(({ parts }) => sum(parts))));
  const plot = {
    width: size.width - size.left,
    height: size.height - size.bottom - size.top,
  };
  const step = plot.width / Math.max(1, bars.length);
  const y = (value: number) => size.top + plot.height * (1 - value / most);
  const drawBar = ({ label, parts }: Bar, index: number): Html => {
    const x = size.left + index * step + step * 0.15;
    let below = 0;
    const rects = parts.map((value, part) => {
      const top = y(below + value);
      const height = y(below) - top;
      below += value;
      return value === 0
        ? ''
        : html`<rect class="${series[part]?.className ?? ''}" x="${x.toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.7).toFixed(1)}" height="${height.toFixed(1)}"></rect>`;
    });
    const isLabelled = index % Math.ceil(bars.length / 8) === 0;
    return html`${rects}${
      isLabelled ? html`<text x="${x.toFixed(1)}" y="${size.height - 6}">${label}</text>` : ''
    }`;
  };
  const line = (value: number) =>
    html`<line class="axis" x1="${size.left}" x2="${size.width}" y1="${y(value)}" y2="${y(value)}"></line>
      <text x="${size.left - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`;
  return html`<ul class="legend">
      ${series.map(
        ({ name, className }) =>
          html`<li>
            <svg viewBox="0 0 12 12" aria-hidden="true"><rect class="${className}" x="1" y="1" width="10" height="10"></rect></svg>
            ${name}
          </li>`,
      )}
    </ul>
    <div class="wide" tabindex="0" role="region" aria-label="${title}, as a picture">
    <svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${title}">
      ${line(0)}${line(most / 2)}${line(most)}${bars.map(drawBar)}
    </svg></div>`;
};

/** A chart, with a table of the same for those who cannot see it. */
export const chartPart = (
  { title, bars, series }: Parameters<typeof barChart>[0],
  { caption, rows }: { caption: string; rows: readonly Row[] },
  { table }: Pick<Cells, 'table'>,
): Html =>
  html`<div class="chart">
    ${barChart({ title, bars, series })}
    <details>
      <summary>The same as a table</summary>
      ${table({ caption, rows, ifEmpty: '' })}
    </details>
  </div>`;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
