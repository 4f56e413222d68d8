import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In a project of fewer files the longest one decides when the run ends, so it goes first. */
const manyFiles = 100;
const shortPerLong = 7;

/**
 * Deals the files that take longest among the others. Most of their time is waiting: all of them at the start
 * would leave the cores idle there, and keep them too busy at the end.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Project by project, the longest first.
    const sorted = await super.sort(files);
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flatMap((ofProject) =>
      ofProject.length < manyFiles ? ofProject : mix(ofProject),
    );
  }
}

const mix = <T>(longestFirst: readonly T[]): T[] => {
  const long = longestFirst.slice(0, Math.ceil(longestFirst.length / (shortPerLong + 1)));
  const short = longestFirst.slice(long.length);
  return long.flatMap((file, nth) => [
    file,
    ...short.slice(nth * shortPerLong, (nth + 1) * shortPerLong),
  ]);
};
