import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResetFailed, type Resets } from '../../../../admin/resets.ts';
import { runLine, words } from '../../../support/admin-line.ts';
import { anApplicationOn, operationsOn } from '../../../support/operations.ts';
import type { Records } from '../../../support/records.ts';
import { startRecords } from '../../../support/records.ts';

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

describe('a list with more rows than its limit', () => {
  const run = (line: string) => runLine(() => operationsOn(records.sql), words(line));
  const note = 'There are more than 50; --limit takes up to 1000.';

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
  ])('prints a note beside the output', async (line) => {
    const people = await run(line(application));
    expect(people).toMatchObject({ code: 0, notes: note });
    expect(people.out.split('\n')).toHaveLength(1 + 50);
    const programs = await run(`${line(application)} --json`);
    expect(programs).toMatchObject({ code: 0, notes: note });
    expect(JSON.parse(programs.out)).toHaveLength(50);
    const all = await run(`${line(application)} --limit 51`);
    expect(all).toMatchObject({ code: 0, notes: '' });
    expect(all.out.split('\n')).toHaveLength(1 + 51);
  });

  it('prints a note without advice at the highest limit', async () => {
    await records.sql`
      insert into tokens (hash, application, prefix, mode, name)
      select sha256(n::text::bytea), ${application}, 'svc_test_0000', 'test', 'many'
      from generate_series(1, 1001) as n`;
    const tokens = await run(`tokens list ${application}`);
    expect(tokens).toMatchObject({ code: 0, notes: 'There are more than 1000.' });
    expect(tokens.out.split('\n')).toHaveLength(1 + 1_000);
  });
});

describe('deliveries retrigger --application', () => {
  const retrigger = async (application: string, toDelivery: Resets['toDelivery']) => {
    const line = `deliveries retrigger --application ${application} --rate 100 --yes`;
    const resets = async () => ({ toDelivery });
    return runLine(() => operationsOn(records.sql, { resets }), words(line));
  };

  it('refuses an empty name', async () => {
    expect(await retrigger('', async () => 'reset')).toMatchObject({
      code: 1,
      notes: 'There is no application "".',
    });
  });

  it('lists the refused deliveries and counts the others', async () => {
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
    expect(await retrigger(application, async () => 'no_history')).toMatchObject({
      code: 0,
      out: 're-triggered               1\nof these within 6 minutes  1\nrefused                    0',
    });
    expect(await retrigger(application, async () => 'no_history')).toMatchObject({
      code: 0,
      out: 'No delivery is exhausted.',
    });
  });
});
