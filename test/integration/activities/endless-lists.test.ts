import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { accountActivities } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { aGateway } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());

describe('a list that has no end is no usable answer', () => {
  const list = (
    positions: (page: number) => string,
    read?: { since: string; pages: number; mark: null },
  ) => {
    let pages = 0;
    const { gatewayOf } = aGateway({
      book: async () => ({ entries: [], lines: [], next: positions((pages += 1)) }),
    });
    const { listBook } = accountActivities(records, {
      gatewayOf,
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
