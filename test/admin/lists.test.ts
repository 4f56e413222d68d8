import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table } from '../../admin/cli/output.ts';
import { ResetFailed, type Resets } from '../../admin/resets.ts';
import { runLine, words } from '../support/admin-line.ts';
import { anApplicationOn, operationsOn } from '../support/operations.ts';
import type { Records } from '../support/records.ts';
import { startRecords } from '../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const exhausted = async (application: string): Promise<string> => {
  const { id } = await records.ended('paid', { application });
  await records.sql`
    update deliveries set status = 'exhausted', next_attempt_at = null where payment_id = ${id}`;
  return id;
};

describe('a table', () => {
  it('has columns as wide as their widest line, and cells of several lines', () => {
    const rows = [
      ['a', 1, null, true],
      ['longer', 22_222, ['one', 'and two'], ''],
    ];
    expect(table(['one', 'two', 'three', 'four'], rows, 'None.').split('\n')).toEqual([
      'ONE     TWO    THREE    FOUR',
      'a       1      –        yes',
      'longer  22222  one',
      '               and two',
    ]);
    expect(table(['one'], [], 'None.')).toBe('None.');
  });

  it('can have as many rows as an incident leaves', () => {
    const rows = Array.from({ length: 150_000 }, (_, index) => [index, 'refused', 'x'.repeat(80)]);
    expect(table(['payment', 'result', 'note'], rows, 'None.').split('\n')).toHaveLength(150_001);
  });
});

describe('re-triggering an application', () => {
  const retrigger = async (application: string, toDelivery: Resets['toDelivery']) => {
    const line = `deliveries retrigger --application ${application} --rate 100 --yes`;
    const resets = async () => ({ toDelivery });
    return runLine(() => operationsOn(records.sql, { resets }), words(line));
  };

  it('lists what was refused, and counts the rest', async () => {
    const application = await anApplicationOn(records.sql);
    const [one = '', ...others] = await Promise.all([1, 2, 3].map(() => exhausted(application)));
    const refused = await retrigger(application, async (id) => {
      if (id === one) throw new ResetFailed('Temporal is away');
      return 'reset';
    });
    expect(refused.code).toBe(1);
    expect(refused.out.split('\n')).toEqual([
      're-triggered  2',
      'refused       1',
      '',
      'REFUSED                         WHY',
      `${one}  Temporal is away`,
    ]);
    for (const id of others) expect(refused.out).not.toContain(id);
    expect(await retrigger(application, async () => 'left')).toMatchObject({
      code: 0,
      out: 're-triggered               1\nof these within 6 minutes  1\nrefused                    0',
    });
    expect(await retrigger(application, async () => 'left')).toMatchObject({
      code: 0,
      out: 'There is nothing to re-trigger.',
    });
  });
});
