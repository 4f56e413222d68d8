import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mutantNames, mutate } from '../../../chaos/mutants.ts';
import { textOf } from '../../../chaos/report.ts';
import { runChaos } from '../../../chaos/run.ts';
import { readStackConfig } from '../../../config.ts';
import { findTemporalServer } from '../../../stack/temporal/program.ts';
import { createTerminal } from '../../../stack/terminal.ts';
import { aFolder } from '../../support/stack/support.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const seed = String(Date.now());
/** Where no program of the server is kept yet it is built, at worst with nothing of it compiled. */
const buildLimitMs = 20 * 60_000;

describe('npm run chaos', () => {
  it(
    'FS-22, FS-49: no outcome is lost or doubled while any process of the production shape is killed',
    { timeout: buildLimitMs + 240_000 },
    async () => {
      const programs = await findTemporalServer({
        ...readStackConfig(),
        terminal: createTerminal(),
      });
      const folder = aFolder();
      // Before the folder goes.
      const cleanup = new AsyncDisposableStack();
      onTestFinished(() => cleanup.disposeAsync());
      const report = await runChaos(
        {
          ...{ payments: 50, seed, quick: true },
          ...{ loadMs: 10_000, drainMs: 120_000, killEveryMs: 1_200 },
        },
        { folder, programs, root: checkout, cleanup, say: () => {} },
      );

      // The text says all; of payments and their gateways' books a difference would be endless.
      const violations = report.violations.map(({ order, text }) => `${order}: ${text}`);
      expect(violations, textOf(report, seed)).toEqual([]);
      expect(report.created).toBe(50);
      expect(report.kills.length).toBeGreaterThanOrEqual(5);
      expect(report.statuses.get('paid')).toBeGreaterThan(20);
    },
  );

  it.each(mutantNames)('can still be given the fault %s, which it has to find', (name) => {
    expect(() => mutate(name, { checkout, folder: aFolder() })).not.toThrow();
  });
});
