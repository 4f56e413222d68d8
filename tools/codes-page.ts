import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { labels, type Vocabulary } from '../admin/operations/labels.ts';
import { nextStepOfFailure } from '../contract/failure-codes.ts';

/** The codes of files and of the API, under the names of their columns. */
const shown = {
  'status of a payment': 'status',
  'failure_code of a payment': 'failure',
  'next_step of a payment': 'nextStep',
  'webhook and delivery': 'delivery',
  'state of a webhook': 'receiver',
  'error of an attempt': 'attemptError',
  event: 'event',
  'status of a refund': 'refundStatus',
  'stage of a refund': 'refundStage',
  'failure_code of a refund': 'refundFailure',
  'reason of a refund': 'refundReason',
  'kind of a movement': 'movement',
} as const satisfies Record<string, Vocabulary>;
const [begin, end] = ['<!-- from the labels: begin -->', '<!-- from the labels: end -->'];

/** The codes that are their own words stand in one line. */
const sectionOf = (name: string, of: Vocabulary): string => {
  const rows = Object.entries(labels[of]);
  const steps: Readonly<Record<string, string>> = of === 'failure' ? nextStepOfFailure : {};
  const same = rows.filter(([code, word]) => word === code).map(([code]) => `\`${code}\``);
  return [
    `## ${name}`,
    '',
    ...(same.length > 0 ? [`- as they are: ${same.join(', ')}`] : []),
    ...rows
      .filter(([code, word]) => word !== code)
      .map(([code, word]) => `- \`${code}\`: ${word}${steps[code] ? `; \`${steps[code]}\`` : ''}`),
  ].join('\n');
};

/** The page with its lists replaced by the labels. */
export const withLabels = (page: string): string => {
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  const sections = Object.entries(shown).map(([name, of]) =>
    sectionOf(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, of),
  );
  return [before, begin, '\n\n', sections.join('\n\n'), '\n\n', end, after].join('');
};

if (import.meta.main) {
  const path = join(import.meta.dirname, '../docs/codes.md');
  writeFileSync(path, withLabels(readFileSync(path, 'utf8')));
}
