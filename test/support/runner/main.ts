import { relative } from 'node:path';
import { createVitest, parseCLI, type TestSpecification, TestsNotFoundError } from 'vitest/node';
import { closingLines, type Outcome } from './closing-lines.ts';
import { runComposeTests } from './compose-tests.ts';
import { findUnseenResponses } from './every-declared-response.ts';
import { firstFailureOf, hasPassed, isOf, isOfLostWorker, type OuterError } from './failures.ts';
import { compileBeside, composeFile, missingFor } from './programs.ts';

const withCompose = '--with-compose';

/**
 * Runs Vitest with the given arguments: `npm test`. With `--with-compose` the Compose tests follow. A file that
 * fails runs once more, alone, after all others: the machine may have been too busy for it. The closing lines name it
 * when it passes then.
 */
const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== withCompose);
const { filter, options } = parseCLI(['vitest', 'run', ...args]);

const isWithCompose = given.length > args.length;
/** Before this run has a temporary folder of its own. */
// oxlint-disable-next-line node/no-process-env -- It is no setting of the service.
const env = { ...process.env };

// It runs the Compose tests, and does not outlive the other.
if (process.send) {
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
}

/** More files do not fail by chance. */
const mostAgain = 3;

const outcome: Outcome = { specifications: [], errors: [], passedSecond: [] };
process.once('exit', (code) => {
  const { lines, isRed } = closingLines(outcome, code !== 0);
  if (isRed) process.exitCode = code || 1;
  process.stdout.write(`${lines.join('\n')}\n`);
});

// Vitest's own command does it, too. Otherwise Vite sets another one.
// oxlint-disable-next-line node/no-process-env -- It is no setting of the service.
process.env['NODE_ENV'] ??= 'test';
const vitest = await createVitest({ ...options, run: true, watch: false });
outcome.label = vitest.config.name;

/** The files that run again, or why none does. */
const chooseAgain = (): readonly TestSpecification[] | string => {
  const { specifications, errors } = outcome;
  const failed = specifications.filter((each) => !hasPassed(each, errors));
  // The first failure has cut all others off.
  const again = vitest.config.bail && failed.length > 0 ? specifications : failed;
  if (again.length > mostAgain) return `${again.length} files failed`;
  const hasFile = (error: OuterError) => again.some((each) => isOf(error, each));
  const isEachOfFile = errors.every((error) => isOfLostWorker(error) || hasFile(error));
  return isEachOfFile ? again : 'an error belongs to no file';
};

const runAgain = async (again: readonly TestSpecification[]) => {
  const failures = again.map((each) => firstFailureOf(each, outcome.errors));
  process.exitCode = undefined;
  outcome.errors = [];
  for (const [index, specification] of again.entries()) {
    const failure = failures[index]!;
    process.stdout.write(`Runs again, alone: ${failure}\n`);
    const { unhandledErrors } = await vitest.runTestSpecifications([specification]);
    outcome.errors.push(...(unhandledErrors as OuterError[]));
    const isPassed = specification.testModule?.state() === 'passed';
    if (isPassed && hasPassed(specification, outcome.errors)) outcome.passedSecond.push(failure);
    // A file that is skipped now has shown nothing.
    else process.exitCode = 1;
  }
};

const checkResponses = async () => {
  const unseen = await findUnseenResponses(vitest, outcome.specifications);
  if (typeof unseen === 'string')
    process.stdout.write(`Did not check that every declared response was seen: ${unseen}\n`);
  else if (unseen.length > 0) {
    process.exitCode = 1;
    process.stdout.write(`Declared responses that no test has seen:\n  ${unseen.join('\n  ')}\n`);
  }
};

/** Says what this machine lacks, and begins to compile it. */
const compileMissing = (specifications: readonly TestSpecification[]) => {
  const { root } = vitest.config;
  const files = specifications.map(({ moduleId }) => relative(root, moduleId));
  const { programs, names } = missingFor([...files, ...(isWithCompose ? [composeFile] : [])]);
  if (names.length === 0) return;
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(
    `Not in the cache: ${names.join(', ')}. They are fetched or compiled beside the tests, once: about ${2 * names.length} minutes of one core.`,
  );
  void compileBeside(programs, say);
};

try {
  compileMissing(await vitest.getRelevantTestSpecifications(filter));
  const { unhandledErrors } = await vitest.start(filter);
  outcome.errors = unhandledErrors as OuterError[];
  outcome.specifications = await vitest.getRelevantTestSpecifications(filter);
  const again = chooseAgain();
  if (typeof again === 'string') process.stdout.write(`No file runs again: ${again}\n`);
  else if (again.length > 0) await runAgain(again);
  await checkResponses();
  if (isWithCompose) outcome.compose = await runComposeTests(env);
} catch (error) {
  process.exitCode = 1;
  // Vitest itself says that it has found no test.
  if (!(error instanceof TestsNotFoundError)) vitest.logger.printError(error, { fullStack: true });
} finally {
  await vitest.exit();
}
