import { expect } from 'vitest';
import { until } from '../until.ts';

export type Labels = Record<string, string>;

interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

/** Parses Prometheus's text format, version 0.0.4. */
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

/** Scrapes a metrics port. */
export const scrape = async (url: string) => {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
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
    /** The names of the metrics, without the suffixes of histograms. */
    names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name),
    /** The sum of all samples with these labels; undefined without a sample. */
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

/** Waits for changes of the metrics of a service. */
export const createWatch = (urls: Readonly<Partial<Record<Part, string>>>) => {
  // A test watches only parts that it has.
  const read = (part: Part) => scrape(urls[part]!);
  const valueOf = async (part: Part, name: string, labels: Labels = {}) =>
    (await read(part)).value(name, labels) ?? 0;

  return {
    valueOf,

    /** Waits until each metric has grown by `by` or more after `act`. */
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
      until(`the expected value of ${name} ${JSON.stringify(labels)}`, async () => {
        const value = (await read(part)).value(name, labels);
        return value !== undefined && is(value);
      }),
  };
};
