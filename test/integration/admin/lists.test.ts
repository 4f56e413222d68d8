import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { table } from '../../../admin/cli/output.ts';
import { ResetFailed, type Resets } from '../../../admin/resets.ts';
import { runLine, words } from '../../support/admin-line.ts';
import { anApplicationOn, operationsOn } from '../../support/operations.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

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

describe('a list that is longer than what is shown of it', () => {
  const run = (line: string) => runLine(() => operationsOn(records.sql), words(line));
  const told = 'There are more than these 50: --limit takes up to 1000.';

  let application: string;
  beforeAll(async () => {
    application = await anApplicationOn(records.sql);
    await Promise.all(Array.from({ length: 51 }, () => exhausted(application)));
    await records.sql`
      insert into audit_log (actor, action, subject)
      select 'ada', 'application.update', ${`application:${application}`}
      from generate_series(1, 50)`;
  });

  it.each([
    (slug: string) => `payments find --application ${slug}`,
    (slug: string) => `deliveries list --application ${slug}`,
    (slug: string) => `audit --subject application:${slug}`,
  ])('says that there are more, but not among what programs read', async (line) => {
    const people = await run(line(application));
    expect(people).toMatchObject({ code: 0, notes: told });
    // Below the headings.
    expect(people.out.split('\n')).toHaveLength(1 + 50);
    const programs = await run(`${line(application)} --json`);
    expect(programs).toMatchObject({ code: 0, notes: told });
    expect(JSON.parse(programs.out)).toHaveLength(50);
    const all = await run(`${line(application)} --limit 51`);
    expect(all).toMatchObject({ code: 0, notes: '' });
    expect(all.out.split('\n')).toHaveLength(1 + 51);
  });

  it('tells no way to more than can be shown', async () => {
    await records.sql`
      insert into tokens (hash, application, prefix, mode, name)
      select sha256(n::text::bytea), ${application}, 'svc_test_0000', 'test', 'many'
      from generate_series(1, 1001) as n`;
    const tokens = await run(`tokens list ${application}`);
    expect(tokens).toMatchObject({ code: 0, notes: 'There are more than these 1000.' });
    expect(tokens.out.split('\n')).toHaveLength(1 + 1_000);
  });
});

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

  it('that is named by an empty variable does not look like one that has nothing', async () => {
    expect(await retrigger('', async () => 'reset')).toMatchObject({
      code: 1,
      notes: 'There is no application "".',
    });
  });

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
