import { expect, it } from 'vitest';
import { checkAll } from '../../../chaos/checks.ts';
import { formatReport } from '../../../chaos/report.ts';
import { runChaos } from '../../../chaos/run.ts';
import { plantLies } from '../../support/chaos/lies.ts';
import { useProductionRun } from '../../support/stack/production-run.ts';

const seed = String(Date.now());

const aRun = useProductionRun();

it(
  'loses and doubles no outcome while any process of the production shape is killed',
  { timeout: 1_200_000 },
  async () => {
    const report = await runChaos(
      {
        payments: 90,
        seed,
        quick: true,
        // Their second attempt comes a minute after the first, which this test waits out.
        failing: 0.25,
        // Seven kills: each needs the time in which its process comes back.
        loadMs: 18_000,
        drainMs: 600_000,
        killEveryMs: 2_500,
      },
      { ...aRun(), say: () => {} },
    );

    // The text says all; a diff of payments and their gateways would be endless.
    const violations = report.violations.map(({ order, text }) => `${order}: ${text}`);
    expect(violations, formatReport(report, seed)).toEqual([]);
    expect(report.created + report.refused).toBe(90);
    expect(report.kills.length).toBeGreaterThan(0);
    expect(report.statuses.get('paid')).toBeGreaterThan(20);
    expect(report.statuses.get('order_already_paid')).toBeGreaterThan(0);
    expect(report.conversion.down.elsewhere).toBeGreaterThan(0);
    expect(report.evidence.payments.some(({ link }) => link !== undefined)).toBe(true);

    // The same checks find each lie about this run.
    const { evidence, readRecords, sql } = report;
    const planted = await plantLies(sql, evidence);
    const found = checkAll({ ...evidence, records: await readRecords() });
    expect(planted.filter((shows) => !found.some(({ text }) => shows.test(text)))).toEqual([]);
    expect(planted.length).toBeGreaterThan(25);
  },
);
