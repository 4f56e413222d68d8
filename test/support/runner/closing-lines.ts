import type { TestSpecification } from 'vitest/node';
import { formatMinutes } from '../../../stack/terminal.ts';
import type { ComposeEnd } from './compose-tests.ts';
import { hasPassed, type OuterError } from './failures.ts';
import { checks } from './mixed-order.ts';

export interface Outcome {
  /** Stands in the last line. The machine may lack what the tests of a run with one need: all may be skipped. */
  label?: string | undefined;
  /** The files of the run. */
  specifications: readonly TestSpecification[];
  /** Those outside of tests. */
  errors: OuterError[];
  /** The first failure of each file that passed only on its second run. */
  passedSecond: string[];
  /** The Compose tests, if they ran. */
  compose?: ComposeEnd | undefined;
}

/** The type of an annotation that a test adds when it takes its result from a cache. */
export const keptResult = 'kept result';

/**
 * The end of the output: how long the parts and the slowest files took, why tests were skipped, which results were
 * taken from a cache, which files passed only on their second run, and `N passed, N failed` as the last line. Each test counts once. A file that does not
 * load, an error outside of the tests and a run that breaks count as failures, and so does a run without any test.
 */
export const closingLines = (
  { label, specifications, errors, passedSecond, compose }: Outcome,
  isBroken: boolean,
): { lines: string[]; isRed: boolean } => {
  const count = { passed: 0, failed: errors.length, skipped: 0 };
  const missing = new Set<string>();
  const kept = new Map<string, number>();
  for (const specification of specifications) {
    const failedBefore = count.failed;
    for (const test of specification.testModule?.children.allTests() ?? []) {
      const result = test.result();
      if (result.state === 'passed' || result.state === 'failed') count[result.state] += 1;
      else count.skipped += 1;
      if (result.state === 'skipped' && result.note) missing.add(result.note);
      for (const { type, message } of test.annotations())
        if (type === keptResult) kept.set(message, (kept.get(message) ?? 0) + 1);
    }
    if (!hasPassed(specification, []) && count.failed === failedBefore) count.failed += 1;
  }
  const mayHaveNone = Boolean(label) && count.skipped > 0;
  const hasNone = count.passed + count.failed === 0 && !mayHaveNone;
  if (count.failed === 0 && (isBroken || hasNone)) count.failed = 1;
  const files = passedSecond.length;
  const onTheir = files === 1 ? 'file passed only on its' : 'files passed only on their';
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  const last = `${count.passed} passed, ${count.failed} failed${skipped}`;
  return {
    lines: [
      ...durationLines(specifications, compose),
      ...[...missing].map((note) => `Skipped tests: ${note}`),
      ...[...kept].map(([note, tests]) => `${tests} passed by a kept result: ${note}`),
      ...(files > 0 ? [`${files} ${onTheir} second run: ${passedSecond.join('; ')}`] : []),
      ...(compose ? [compose.lastLine] : []),
      ...(compose?.isRed ? ['The run is red: the Compose tests failed, see their output.'] : []),
      label ? `${label}: ${last}` : last,
    ],
    isRed: count.failed > 0 || Boolean(compose?.isRed),
  };
};

const slowest = 5;

/** Files run side by side, so their times add up to more than the run took. */
const durationLines = (
  specifications: readonly TestSpecification[],
  compose: ComposeEnd | undefined,
): string[] => {
  const files = specifications.flatMap(({ testModule: module, project }) => {
    if (!module) return [];
    const { collectDuration, duration } = module.diagnostic();
    const name = module.relativeModuleId;
    const part = name === checks ? 'static checks' : project.name;
    return [{ name, part, seconds: (collectDuration + duration) / 1000 }];
  });
  if (files.length < 2) return [];
  const parts = [...Map.groupBy(files, ({ part }) => part)].map(([part, its]) => ({
    part: part || 'tests',
    seconds: its.reduce((all, { seconds }) => all + seconds, 0),
  }));
  if (compose) parts.push({ part: 'Compose', seconds: compose.seconds });
  const longestFirst = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowest);
  return [
    `The run took ${formatMinutes(performance.now() / 1000)}. The files of each part, one after the other: ${parts.map(({ part, seconds }) => `${part} ${formatMinutes(seconds)}`).join(', ')}`,
    `The slowest files: ${longestFirst.map(({ name, seconds }) => `${name} ${Math.round(seconds)} s`).join(', ')}`,
  ];
};
