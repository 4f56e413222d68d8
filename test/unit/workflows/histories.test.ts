import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as messages from '../../../temporal/messages.ts';
import {
  type HistoryEvent,
  isOpen,
  patchesOf,
  payloadsOf,
  typeOf,
  waitsOf,
} from '../../../tools/history-file.ts';
import * as activities from '../../../workflows/activities.ts';
import { removeFolder } from '../../support/remove-folder.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'test/histories');
const histories = globSync('**/*.json', { cwd: folder })
  .sort()
  .map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const { events } = JSON.parse(text) as { events: HistoryEvent[] };
    return { file, text, events, type: typeOf(events) };
  });
const rule = 'docs/operating/changing-workflows.md has the rules.';

it('the saved histories are those of frozen.txt, which only grows', () => {
  const frozen = readFileSync(join(folder, 'frozen.txt'), 'utf8').trimEnd().split('\n');
  const found = histories.map(
    ({ file, text }) => `${createHash('sha256').update(text).digest('hex')}  ${file}`,
  );
  expect(
    frozen.filter((line) => !found.includes(line)),
    `These are changed or missing. Saved histories are evidence: restore them, and put a change of a workflow behind patched(). ${rule}`,
  ).toEqual([]);
  expect(
    found.filter((line) => !frozen.includes(line)),
    'Add these lines to test/histories/frozen.txt.',
  ).toEqual([]);
});

/** The names in messages.ts that end so, e.g. those of all signals. */
const named = (suffix: string): string[] =>
  Object.entries(messages).flatMap(([key, name]) => (key.endsWith(suffix) ? [String(name)] : []));
/** They never end. */
const endless: string[] = [messages.sweeperWorkflow, messages.noticesWorkflow];
const patches = globSync('workflows/*.ts', { cwd: root }).flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/\b(?:patched|deprecatePatch)\('([^']+)'/g)].map(([, id = '']) => id);
});

it('each workflow has an ended history, and an open one for each thing that it waits for', () => {
  const shown = new Set(
    histories.flatMap(({ events, text, type }) => [
      ...(isOpen(events) ? [`open ${type}`] : [`ended ${type}`]),
      ...named('Signal').filter((name) => text.includes(`"signalName":"${name}"`)),
      ...patchesOf(events),
      ...(isOpen(events)
        ? waitsOf(events).pending.flatMap((wait) => [wait, `${type}: ${wait}`])
        : []),
    ]),
  );
  const expected = [
    ...named('Workflow').flatMap((name) => [`open ${name}`, `ended ${name}`]),
    ...named('Signal'),
    ...named('Update').map((name) => `update ${name}`),
    ...Object.keys(activities).map((name) => `activity ${name}`),
    ...patches,
    ...histories.flatMap(({ events, type }) =>
      waitsOf(events).begun.map((wait) => `${type}: ${wait}`),
    ),
  ].filter((each) => !endless.includes(each.replace('ended ', '')));
  expect(
    [...new Set(expected)].filter((each) => !shown.has(each)),
    `No saved history shows these. ${rule}`,
  ).toEqual([]);
});

/** The types of what Temporal keeps of workflows. */
const prelude = `
import type { Activities } from '${root}/activities/index.ts';
import type { FailureType } from '${root}/temporal/failures.ts';
import type { CancelRequest, RecheckRequest, VerifyRequest, Workflows } from '${root}/temporal/messages.ts';
interface Signals { recheck: [RecheckRequest?] | [askAt?: number]; callOff: []; deliver: [] }
interface Updates { verify: [VerifyRequest]; cancel: [CancelRequest]; finish: [] }
`;

it('the current types describe the inputs and results in the histories', () => {
  const checked = mkdtempSync(join(tmpdir(), 'payments-histories-'));
  onTestFinished(() => removeFolder(checked));
  const compilerOptions = {
    noUnusedLocals: false,
    rewriteRelativeImportExtensions: false,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    join(checked, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.mts'] }),
  );
  for (const { file, events } of histories) {
    const lines = payloadsOf(events).map(({ value, type }) => `void (${value} satisfies ${type});`);
    writeFileSync(
      join(checked, `${basename(file, '.json')}.mts`),
      [prelude, ...new Set(lines)].join('\n'),
    );
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  let problems = '';
  try {
    execFileSync(process.execPath, [tsc, '-p', '.'], { cwd: checked, encoding: 'utf8' });
  } catch (error) {
    problems = (error as { stdout: string }).stdout;
  }
  expect(
    problems,
    `Open workflows have these values. Old fields keep their names and types, and new ones are optional. ${rule}`,
  ).toBe('');
});
