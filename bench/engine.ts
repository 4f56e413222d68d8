import { compared, type Figure } from './figure.ts';
import type { Group } from './group.ts';
import { type Cpu, totalOf } from './processes.ts';
import { createSampler } from './sample.ts';

const warmUp = { atOnce: 20, count: 200, limitMs: 20_000 };
const block = { atOnce: 20, count: 200, limitMs: 20_000 };
const rounds = [1, 2, 3];

/**
 * What a payment's shape takes of the engine and the SDK where nothing is done: its timer, its update,
 * its fifth workflow task and its search attributes. What the service itself takes comes on top.
 */
export const measureEngine: Group = async ({ bare, barePids, say }) => {
  const sample = createSampler();
  say('The engine: warming up …');
  await bare.runWorkflows(warmUp);
  await bare.runShapes(warmUp);
  const samples: { ceiling: Cpu; ours: Cpu }[] = [];
  for (const round of rounds) {
    say(`The engine: round ${round} of ${rounds.length} …`);
    const { cpu: ceiling } = await sample(barePids, () => bare.runWorkflows(block));
    const { cpu: ours } = await sample(barePids, () => bare.runShapes(block));
    samples.push({ ceiling, ours });
  }
  const figure = (name: string, of: (cpu: Cpu) => number): Figure =>
    compared(
      { name, unit: 'ms', ceilingName: 'bare workflow' },
      samples.map((each) => ({ ceiling: of(each.ceiling), ours: of(each.ours) })),
    );
  return [
    figure("CPU of a payment's shape, with nothing done", totalOf),
    figure('  of these worker', ({ worker }) => worker),
    figure('  of these temporal', ({ temporal }) => temporal),
  ];
};
