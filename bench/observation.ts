import { fileURLToPath } from 'node:url';
import { compared, type Figure, type Round } from './figure.ts';
import type { Group } from './group.ts';
import { closedLoop } from './load.ts';
import { startOurs } from './ours.ts';
import type { Cpu } from './processes.ts';
import { startReceiver } from './receiver.ts';
import { createSampler } from './sample.ts';

const warmUp = { atOnce: 20, count: 400, limitMs: 30_000 };
const block = { atOnce: 20, count: 80, limitMs: 10_000 };
const rounds = [1, 2, 3, 4];
/** Within a round. The machine's own speed changes by the second, and by more than what is looked for. */
const turns = ['observed', 'unobserved', 'unobserved', 'observed'] as const;
/** As Prometheus asks for metrics by default in its own examples. */
const scrapeEveryMs = 15_000;

/** What it costs our processes to be watched: the same with metrics and logs, and without. */
export const measureObservation: Group = async (bench) => {
  const { pids: servers, cleanup, say } = bench;
  const receiver = await startReceiver();
  cleanup.defer(receiver.stop);
  const observed = await startOurs(bench, { name: 'observed', receiver });
  const unobserved = await startOurs(bench, {
    ...{ name: 'unobserved', receiver, env: { LOG_LEVEL: 'silent' } },
    preload: fileURLToPath(new URL('unobserved/preload.ts', import.meta.url)),
  });
  cleanup.defer(scrape(observed.metricsUrls));

  const both = { observed, unobserved };
  const sample = createSampler();
  const cpuOf = async (which: keyof typeof both): Promise<Cpu> => {
    const { pids, pay } = both[which];
    const { cpu } = await sample({ ...servers, ...pids }, () => closedLoop(block, pay));
    return cpu;
  };

  say('Metrics and logs: warming up …');
  for (const { pay } of [observed, unobserved]) await closedLoop(warmUp, pay);
  const samples: { ceiling: Cpu[]; ours: Cpu[] }[] = [];
  for (const round of rounds) {
    say(`Metrics and logs: round ${round} of ${rounds.length} …`);
    const taken: Record<keyof typeof both, Cpu[]> = { observed: [], unobserved: [] };
    for (const which of [...turns, ...turns]) taken[which].push(await cpuOf(which));
    samples.push({ ceiling: taken.unobserved, ours: taken.observed });
  }
  const figure = (name: string, of: (cpu: Cpu) => number, atMost?: number): Figure =>
    compared(
      { name, unit: 'ms', ceilingName: 'without them' },
      samples.map(({ ceiling, ours }): Round => ({
        ceiling: mean(ceiling.map(of)),
        ours: mean(ours.map(of)),
      })),
      atMost === undefined ? undefined : { atMost },
    );
  return [
    figure('CPU per paid payment with metrics and logs', ({ api, worker }) => api + worker, 1.05),
    figure('  of these api', ({ api }) => api),
    figure('  of these worker', ({ worker }) => worker),
    // They do the same for both: how far this is from 1 is how far the others may be off.
    figure('  beside them Temporal and Postgres', ({ temporal, postgres }) => temporal + postgres),
  ];
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Somebody has to ask for metrics, or they would cost less than they do. @returns what ends it */
const scrape = (urls: readonly string[]) => {
  const timer = setInterval(() => {
    for (const url of urls)
      void fetch(`${url}/metrics`)
        .then((answer) => answer.text())
        .catch(() => {});
  }, scrapeEveryMs);
  return () => clearInterval(timer);
};
