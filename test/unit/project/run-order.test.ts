import { describe, expect, it } from 'vitest';
import { projectFiles } from '../../support/checks/project-files.ts';
import { planOrder, type Planned, secondsOf } from '../../support/runner/mixed-order.ts';
import { compiled, composeFile } from '../../support/runner/programs.ts';

const some = (project: string, seconds: number[]): Planned[] =>
  seconds.map((each) => ({ path: `${project} ${each}`, project, seconds: each }));
const orderOf = (files: Planned[], atOnce: number) =>
  planOrder(files, atOnce).map(({ path }) => path);

describe('the order of a run', () => {
  it('begins with the longest files, beside short ones and one of production', () => {
    const files = [
      ...some('unit', [1, 2]),
      ...some('integration', [3, 8, 40, 4, 60, 5, 7, 6, 10]),
      ...some('production', [9, 20]),
    ];
    expect(orderOf(files, 3)).toEqual([
      ...['production 20', 'integration 60', 'integration 40', 'production 9'],
      ...['integration 10', 'integration 8', 'integration 7', 'integration 6'],
      ...['integration 5', 'integration 4', 'integration 3', 'unit 2', 'unit 1'],
    ]);
  });

  it('begins the static checks at once, and a file whose program is compiled in the second half', () => {
    const path = 'test/integration/tools/check.test.ts';
    const files: Planned[] = [
      ...some('integration', [10, 9, 8, 7, 6, 5]),
      { path: 'waits', project: 'integration', seconds: 11, waits: true },
      { path, project: 'integration', seconds: 1 },
    ];
    const order = orderOf(files, 2);
    expect([order.indexOf(path), order.indexOf('waits')]).toEqual([0, 4]);
  });

  it.each([1, 2, 20])('has each file once with %i at once', (atOnce) => {
    const files = [...some('integration', [3, 2, 1]), ...some('production', [5, 4, 6])];
    expect(orderOf(files, atOnce).toSorted()).toEqual(files.map(({ path }) => path).toSorted());
    expect(planOrder([], atOnce)).toEqual([]);
  });

  it('knows only files that there are', () => {
    const named = [...secondsOf.keys(), ...compiled.flatMap(([, files]) => files), composeFile];
    expect(projectFiles()).toEqual(expect.arrayContaining(named));
  });
});
