import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { createCompareAccountsActivities } from '../../../activities/compare-accounts.ts';
import { createAccountComparison } from '../../../postgres/account-comparison.ts';
import { createAccountStatement } from '../../../postgres/account-statement.ts';
import { createGatewayEntries } from '../../../postgres/gateway-entries.ts';
import { createPayouts } from '../../../postgres/payouts.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { aGateway, publicBaseUrl, readableLogger } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());
const { sql } = records;

describe('a list that has no end is no usable answer', () => {
  const list = (
    positions: (page: number) => string,
    read?: { since: string; pages: number; mark: null },
  ) => {
    let pages = 0;
    const { gatewayOf } = aGateway({
      book: async () => ({ entries: [], lines: [], next: positions((pages += 1)) }),
    });
    const { listBook } = createCompareAccountsActivities({
      accountComparison: createAccountComparison(sql),
      gatewayEntries: createGatewayEntries(sql),
      accountStatement: createAccountStatement(sql),
      payouts: createPayouts(sql),
      paymentOutcomes: records.paymentOutcomes,
      gatewayOf,
      runningWorkflows: async () => new Set(),
      publicBaseUrl,
      now: () => new Date(),
      logger: readableLogger().logger,
    });
    const day = { gateway: 'sandbox', day: '2026-11-20' };
    const reading = new MockActivityEnvironment().run(() =>
      listBook({ ...day, after: null, ...(read && { read }) }),
    );
    return { reading, read: () => pages };
  };

  it.each([
    ['its first page again', () => 'a', 2],
    ['three pages in a circle', (page: number) => `${page % 3}`, 7],
    [
      'a circle that does not begin at once',
      (page: number) => `${Math.max(page, 5 + (page % 2))}`,
      9,
    ],
  ])('with %s', async (_name, positions, most) => {
    const { reading, read } = list(positions);
    await expect(reading).rejects.toThrow('repeats its position');
    expect(read()).toBeLessThanOrEqual(most);
  });

  it('with a page more than are read of a day', async () => {
    const { reading, read } = list((page) => `${page}`, {
      since: '2026-11-20T00:00:00Z',
      pages: 19_998,
      mark: null,
    });
    await expect(reading).rejects.toThrow('more than 20000 pages');
    expect(read()).toBe(2);
  });
});
