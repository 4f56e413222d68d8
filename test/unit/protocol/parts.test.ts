import { describe, expect, it } from 'vitest';
import { type Exploration, explore, toText } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';
import { type AnyState, parts, plantedFaults } from '../../../protocol/parts.ts';
import { withModel } from '../../../tools/protocol-page.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

const cpuSeconds = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
};

describe('every part keeps its rules in all its states', () => {
  let total = 0;
  const found = new Map<Part<AnyState>, Exploration<AnyState>>();

  it.each(parts)('$name', (part) => {
    const before = cpuSeconds();
    const exploration = explore(part);
    found.set(part, exploration);
    const { states, edges, counterexample } = exploration;
    const seconds = cpuSeconds() - before;
    total += seconds;
    const size = `${states.length} states, ${edges.length} transitions`;
    console.log(`${part.name}: ${size}, ${seconds.toFixed(2)} s of CPU`);
    expect(counterexample && toText(counterexample)).toBeUndefined();
    expect(seconds).toBeLessThan(3);
  });

  it('in at most 20 seconds of CPU', () => {
    expect(total).toBeLessThan(20);
  });

  it('and docs/protocol.md has their diagrams and rules; `node tools/protocol-page.ts` writes them', () => {
    const page = readProjectFile('docs/protocol.md');
    expect(withModel(page, (part) => found.get(part) ?? explore(part))).toBe(page);
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
