import { expect } from 'vitest';
import { until } from './until.ts';

export type Labels = Record<string, string>;

interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

/** Prometheus's text format, version 0.0.4, as far as it is used. */
const parse = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const parts = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
      expect(parts, line).not.toBeNull();
      const [, name = '', labels = '', value = ''] = parts ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label = '', of = '']) => [label, of])),
        value: Number(value.replace('Inf', 'Infinity')),
      };
    });

/** What an operations port says of its process, at this moment. */
export const scrape = async (url: string) => {
  const answer = await fetch(`${url}/metrics`);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const samples = parse(text);
  const matching = (name: string, labels: Labels) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  return {
    text,
    samples,
    /** Of metrics that have a type, without a histogram's suffixes. */
    names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
    /** Summed over all that have these labels; undefined without any. */
    value(name: string, labels: Labels = {}): number | undefined {
      const found = matching(name, labels);
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
};

type Part = 'api' | 'worker';

interface Move {
  part: Part;
  name: string;
  labels?: Labels;
  by?: number;
}

/** Looks at the metrics ports of a service until something moves. */
export const createWatch = (urls: Readonly<Record<Part, string>>) => {
  const valueOf = async (part: Part, name: string, labels: Labels = {}) =>
    (await scrape(urls[part])).value(name, labels) ?? 0;

  return {
    valueOf,

    /** Each of them is larger by so much, or more, once this has happened. */
    async grow(moves: readonly Move[], act: () => Promise<unknown>): Promise<void> {
      const valuesOf = () =>
        Promise.all(moves.map(({ part, name, labels }) => valueOf(part, name, labels)));
      const before = await valuesOf();
      await act();
      await until(`${moves.map(({ name }) => name).join()} grow`, async () => {
        const after = await valuesOf();
        return moves.every(({ by = 1 }, index) => after[index]! >= before[index]! + by);
      });
    },

    isNow: (part: Part, name: string, labels: Labels, is: (value: number) => boolean) =>
      until(`${name} ${JSON.stringify(labels)} is as it must be`, async () => {
        const value = (await scrape(urls[part])).value(name, labels);
        return value !== undefined && is(value);
      }),
  };
};
export type Watch = ReturnType<typeof createWatch>;
