import { describe, expect, it } from 'vitest';
import { explore, toText } from '../../../protocol/explorer.ts';
import { parts, plantedFaults } from '../../../protocol/parts.ts';

const cpuSeconds = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
};

describe('every part keeps its rules in all its states', () => {
  let total = 0;

  it.each(parts)('$name', (part) => {
    const before = cpuSeconds();
    const { states, edges, counterexample } = explore(part);
    const seconds = cpuSeconds() - before;
    total += seconds;
    const size = `${states.length} states, ${edges.length} transitions`;
    console.log(`${part.name}: ${size}, ${seconds.toFixed(2)} s of CPU`);
    expect(counterexample && toText(counterexample)).toBeUndefined();
    expect(seconds).toBeLessThan(3);
  });

  it('in at most 15 seconds of CPU', () => {
    expect(total).toBeLessThan(15);
  });
});

describe('the explorer finds every planted fault', () => {
  it('at least twelve kinds of them', () => {
    expect(new Set(plantedFaults.map(({ fault }) => fault)).size).toBeGreaterThanOrEqual(12);
  });

  it.each(plantedFaults)('$part.name: $fault', ({ fault, part }) => {
    const { counterexample } = explore(part);
    expect(counterexample).toBeDefined();
    if (counterexample) console.log(`${part.name}, ${fault}\n${toText(counterexample)}`);
  });
});
