import { explore } from './explorer.ts';
import type { AnyState } from './parts.ts';
import type { Part } from './part.ts';

/** The page's state machine of a part: the values of one variable, and the steps that change it. */
export const toMermaid = (part: Part<AnyState>, variable: string): string => {
  const { states, edges } = explore(part);
  const valueOf = (index: number) => String(states[index]?.[variable]);
  const labels = new Map<string, Set<string>>();
  for (const { from, step, to } of edges) {
    if (valueOf(from) === valueOf(to)) continue;
    const arrow = `${valueOf(from)} --> ${valueOf(to)}`;
    const label = step.replace(/ \((?:a|b|one|two)(?:, given up)?\)/, '').replaceAll(':', ',');
    labels.set(arrow, (labels.get(arrow) ?? new Set()).add(label));
  }
  const lines = [...labels].map(([arrow, steps]) => `  ${arrow}: ${[...steps].sort().join('<br>')}`);
  return ['stateDiagram-v2', `  [*] --> ${valueOf(0)}`, ...lines.sort()].join('\n');
};
