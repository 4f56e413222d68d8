import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { explore, type Graph } from '../protocol/explorer.ts';
import { type AnyState, parts } from '../protocol/parts.ts';
import type { Part } from '../protocol/part.ts';

/** The variable whose values are the states of a part's diagram. */
const shown: Readonly<Record<string, string>> = {
  'opening and checkout': 'status',
  'end of a payment': 'status',
  'delivery and replay': 'status',
  'late money': 'result',
  'refund, two tries': 'one_status',
  dispute: 'recorded',
  cancel: 'status',
  'one paid payment for an order, calls off': 'two_status',
  'payment link': 'status',
};
const [begin, end] = ['<!-- from the model: begin -->', '<!-- from the model: end -->'];

/** A diagram of more arrows shows nobody anything. */
const mostLines = 16;

type GraphOf = (part: Part<AnyState>) => Graph<AnyState>;

/** The values of a variable, and the steps that change it. */
const toMermaid = ({ states, edges }: Graph<AnyState>, variable: string): string => {
  const valueOf = (index: number) => String(states[index]?.[variable]);
  const labels = new Map<string, Set<string>>();
  for (const { from, step, to } of edges) {
    if (valueOf(from) === valueOf(to)) continue;
    const arrow = `${valueOf(from)} --> ${valueOf(to)}`;
    const label = step
      .replace(/ \((?:replay )?(?:a|b|one|two|sweeper)(?: old)?\)/, '')
      .replaceAll(':', ',');
    labels.set(arrow, (labels.get(arrow) ?? new Set()).add(label));
  }
  const lines = [...labels].map(
    ([arrow, steps]) => `  ${arrow}: ${[...steps].sort().join('<br>')}`,
  );
  return ['stateDiagram-v2', `  [*] --> ${valueOf(0)}`, ...lines.sort()].join('\n');
};

const sectionOf = (name: string, variable: string, graphOf: GraphOf): string => {
  const part = parts.find((each) => each.name === name);
  if (!part) throw new Error(`There is no part ${name}`);
  const [title = ''] = name.split(',');
  const heading = `### ${title.charAt(0).toUpperCase()}${title.slice(1)}`;
  const listOf = (when: string, of: object) => [
    `${when}:`,
    '',
    ...Object.keys(of).map((words) => `- ${words}`),
  ];
  const rules = [...listOf('Always', part.invariants), '', ...listOf('In the end', part.goals)];
  const diagram = toMermaid(graphOf(part), variable);
  const lines = diagram.split('\n').length > mostLines ? [] : ['```mermaid', diagram, '```', ''];
  return [heading, '', ...lines, ...rules].join('\n');
};

/** The page with its section from the model replaced by what the model says now. */
export const withModel = (page: string, graphOf: GraphOf = explore): string => {
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  const sections = Object.entries(shown).map(([name, variable]) =>
    sectionOf(name, variable, graphOf),
  );
  return [before, begin, '\n\n', sections.join('\n\n'), '\n\n', end, after].join('');
};

if (import.meta.main) {
  const page = join(import.meta.dirname, '../docs/protocol.md');
  writeFileSync(page, withModel(readFileSync(page, 'utf8')));
}
