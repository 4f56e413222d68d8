import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { labels, type Vocabulary } from '../admin/operations/labels.ts';

/** The codes of files and of the API, under the names of their columns. */
const shown = {
  'status of a payment': 'status',
  'failure_code of a payment': 'failure',
  'webhook and delivery': 'delivery',
  'state of a webhook': 'receiver',
  'error of an attempt': 'attemptError',
  event: 'event',
  'status of a refund': 'refundStatus',
  'stage of a refund': 'refundStage',
  'failure_code of a refund': 'refundFailure',
  'reason of a refund': 'refundReason',
  'kind of a movement': 'movement',
  'difference of an account': 'difference',
  'call to a gateway': 'exchange',
  'answer of a gateway': 'exchangeResult',
  'action in the audit log': 'audit',
} as const satisfies Record<string, Vocabulary>;
const [begin, end] = ['<!-- from the labels: begin -->', '<!-- from the labels: end -->'];

const sectionOf = (name: string, of: Vocabulary): string => {
  const rows = Object.entries(labels[of]).map(([code, word]) => [`\`${code}\``, word]);
  const widths = [0, 1].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0), column === 0 ? 4 : 5),
  );
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  return [
    `## ${name}`,
    '',
    line(['Code', 'Words']),
    line(['', ''], '-'),
    ...rows.map((row) => line(row)),
  ].join('\n');
};

/** The page with its tables replaced by the labels. */
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
