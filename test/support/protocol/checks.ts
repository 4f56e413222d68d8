import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { explore } from '../../../protocol/explorer.ts';
import { type AnyState, parts } from '../../../protocol/parts.ts';
import type { Part } from '../../../protocol/part.ts';
import { domainsOf, toPromela } from './promela.ts';
import { listTransitions, search } from './spin.ts';
import { createWhole } from './whole.ts';

/** Spin looks at one model. */
export interface Check {
  name: string;
  /** Changes with every file that decides what Spin finds. */
  key: string;
  /** @returns what Spin finds; throws if it is not what the model promises */
  run: () => Promise<string>;
}

const root = join(import.meta.dirname, '../../..');

/** A file, and what it imports from the project. */
const filesOf = (path: string): string[] => {
  const imports = readFileSync(path, 'utf8').matchAll(/^import (?!type )[^;]* from '(\..*)';$/gm);
  return [path, ...[...imports].flatMap(([, to = '']) => filesOf(join(dirname(path), to)))];
};

const keyOf = (model: string): string => {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  const files = [model, 'promela.ts', 'spin.ts'].flatMap((file) =>
    filesOf(join(import.meta.dirname, file)),
  );
  for (const file of [...new Set(files)].toSorted())
    hash.update(relative(root, file)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
};

/** Spin finds the transitions of the explorer. */
const compare = async (part: Part<AnyState>): Promise<string> => {
  const { states, edges } = explore(part);
  const promela = toPromela(part, domainsOf(states));
  const printed = states.map((state) => promela.print(state));
  const expected = new Set(
    edges.map(({ from, step, to }) =>
      [promela.steps.indexOf(step), printed[from], printed[to]].join(' '),
    ),
  );
  const found = await listTransitions(promela);
  const unexpected = [...found].find((line) => !expected.has(line));
  if (unexpected !== undefined || found.size !== expected.size)
    throw new Error(
      `Spin finds ${found.size} transitions, the explorer ${expected.size}; only Spin: ${unexpected}`,
    );
  return `${found.size} transitions`;
};

const searchWhole = (...fault: Parameters<typeof createWhole>) => {
  const { whole, domains } = createWhole(...fault);
  return search(toPromela(whole, domains), { memoryMb: 8_000, tableBits: 26 });
};

const ofWhole = keyOf('whole.ts');
const ofParts = keyOf('../../../protocol/parts.ts');

/** The longest first. */
export const checks: readonly Check[] = [
  {
    name: 'all parts at once',
    key: ofWhole,
    async run() {
      const { states, isComplete, broken } = await searchWhole();
      if (broken !== undefined || !isComplete)
        throw new Error(broken ?? 'The limits are too small');
      return `${states} states`;
    },
  },
  {
    name: 'all parts at once, no compare-and-set',
    key: ofWhole,
    async run() {
      const { broken } = await searchWhole('no compare-and-set');
      if (!broken?.includes('a payment has one event, written with its outcome'))
        throw new Error(`The planted fault is not found: ${broken}`);
      return broken;
    },
  },
  // Without the restores of refunds, whose questions about eight variables at once are too long in C.
  ...parts
    .filter(({ name }) => name !== 'refund, restores')
    .toReversed()
    .map((part) => ({ name: part.name, key: ofParts, run: () => compare(part) })),
];

/** Has a line for each check: its key, its name and what Spin found. */
export const checkedFile = join(root, 'protocol/checked.txt');

export const lineOf = ({ key, name }: Check, found: string): string => `${key} ${name}: ${found}`;

/** What Spin found in these models before. */
export const readChecked = (): string[] =>
  existsSync(checkedFile) ? readFileSync(checkedFile, 'utf8').trimEnd().split('\n') : [];

export const keptLineOf = (check: Check, lines: readonly string[]): string | undefined =>
  lines.find((line) => line.startsWith(lineOf(check, '')));
