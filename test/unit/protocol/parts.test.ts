import { describe, expect, it } from 'vitest';
import { type Exploration, explore, toText } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';
import { type AnyState, parts, plantedFaults } from '../../../protocol/parts.ts';
import { withModel } from '../../../tools/protocol-page.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

/** A part, and all parts together, stay so small that checking them takes seconds. */
const mostTransitions = { ofPart: 530_000, ofAll: 2_500_000 };

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
    total += edges.length;
    const size = `${states.length} states, ${edges.length} transitions`;
    console.log(`${part.name}: ${size}, ${seconds.toFixed(2)} s of CPU`);
    expect(counterexample && toText(counterexample)).toBeUndefined();
    expect(edges.length).toBeLessThanOrEqual(mostTransitions.ofPart);
  });

  it('and all parts together stay small', () => {
    console.log(`All parts: ${total} transitions`);
    expect(total).toBeLessThanOrEqual(mostTransitions.ofAll);
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
