import { stripVTControlCharacters } from 'node:util';
import type { SerializedError, TestSpecification } from 'vitest/node';

/** The errors that Vitest caught outside of tests. */
export type OuterError = SerializedError;

/** Any value can be thrown. */
const messageOf = (error: { message?: unknown } | undefined): string =>
  typeof error?.message === 'string' ? error.message : 'without a message';

/** Whether the file ran when the error was caught. */
export const isOf = (error: OuterError, { moduleId }: TestSpecification): boolean =>
  error['VITEST_TEST_PATH'] === moduleId || messageOf(error.cause).includes(moduleId);

/** Not each of these errors names the file that the worker ran. That file has no end. */
export const isOfLostWorker = (error: OuterError): boolean =>
  messageOf(error).startsWith('[vitest-pool]');

export const hasPassed = (
  specification: TestSpecification,
  errors: readonly OuterError[],
): boolean => {
  const state = specification.testModule?.state();
  const hasEnd = state === 'passed' || state === 'skipped';
  return hasEnd && !errors.some((error) => isOf(error, specification));
};

/** Names the file and what failed in it first, with the first line of its message. */
export const firstFailureOf = (
  specification: TestSpecification,
  errors: readonly OuterError[],
): string => {
  const { testModule: module, moduleId } = specification;
  const file = module?.relativeModuleId ?? moduleId;
  const [test] = module?.children.allTests('failed') ?? [];
  const suites = module ? [module, ...module.children.allSuites()] : [];
  const suite = suites.find((each) => each.errors().length > 0);
  const outer = errors.find((each) => isOf(each, specification));
  const inner = test?.result().errors?.[0] ?? suite?.errors()[0];
  const error = inner ?? outer?.cause ?? outer ?? { message: 'it did not end' };
  const title = test?.fullName ?? (suite?.type === 'suite' && suite.fullName);
  const place = [file, title || outer?.['VITEST_TEST_NAME']];
  const [line = ''] = stripVTControlCharacters(messageOf(error)).split('\n');
  return `${place.filter(Boolean).join(' > ')}: ${line.slice(0, 300)}`;
};
