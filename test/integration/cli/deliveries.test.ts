import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResetFailed, type Resets } from '../../../operations/resets.ts';
import { eventId } from '../../../contract/ids.ts';
import { runLine, words } from '../../support/service/admin-line.ts';
import { anApplicationOn, operationsOn } from '../../support/service/admin-operations.ts';
import type { Records } from '../../support/data/records.ts';
import { startRecords } from '../../support/data/records.ts';

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
  const retrigger = async (
    application: string,
    toDelivery: Resets['toDelivery'],
    options: Parameters<typeof runLine>[2] = {},
  ) => {
    const line = `deliveries retrigger --application ${application} --rate 100 --yes`;
    const resets = async () => ({ toDelivery });
    return runLine(() => operationsOn(records.sql, { resets }), words(line), options);
  };

  it('says what it did when it is interrupted', async () => {
    const application = await anApplicationOn(records.sql);
    await Promise.all([1, 2, 3].map(() => exhausted(application)));
    const interruption = new AbortController();
    const reset: string[] = [];
    const ran = await retrigger(
      application,
      async (id) => {
        reset.push(id);
        if (reset.length === 2) interruption.abort();
        return 'reset';
      },
      interruption,
    );
    expect(ran).toMatchObject({ code: 1, out: 're-triggered  2\nrefused       0' });
    expect(ran.notes.split('\n').at(-1)).toBe('Interrupted. Not tried: 1');
    const [pending] = await records.sql`
      select count(*) from deliveries where payment_id = any(${reset}) and status = 'pending'`;
    expect(pending).toEqual({ count: 2 });
  });

  it('says what it did when it fails in the middle', async () => {
    const application = await anApplicationOn(records.sql);
    await Promise.all([1, 2, 3].map(() => exhausted(application)));
    let resets = 0;
    const toDelivery: Resets['toDelivery'] = async () => {
      resets += 1;
      if (resets === 2) throw new Error('the disk is full');
      return 'reset';
    };
    const ran = await retrigger(application, toDelivery);
    expect(ran).toMatchObject({ code: 1, out: 're-triggered  1\nrefused       0' });
    expect(ran.notes.split('\n').at(-1)).toBe('Failed: the disk is full');
    const nothing = await retrigger(application, () => Promise.reject(new Error('still full')));
    expect(nothing).toMatchObject({
      code: 1,
      out: 'Nothing was done.',
      notes: 'Failed: still full',
    });
  });

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

describe('deliveries show', () => {
  it('shows the delivery of a payment, with its attempts', async () => {
    const application = await anApplicationOn(records.sql);
    const id = await exhausted(application);
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at,
        completed_at, duration_ms, response_status, error_class, error)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now(), now(), 12, 503, 'http', 'HTTP 503')`;
    const show = (line: string) => runLine(() => operationsOn(records.sql), words(line));
    const people = await show(`deliveries show ${id}`);
    expect(people).toMatchObject({ code: 0, notes: '' });
    expect(people.out).toMatch(/^delivery +exhausted$/m);
    expect(people.out).toMatch(/^1 +1 +schedule +\S+ +12 +503 +http +HTTP 503$/m);
    const programs = await show(`deliveries show ${id} --json`);
    expect(JSON.parse(programs.out)).toMatchObject({
      payment_id: id,
      delivery: 'exhausted',
      round: 1,
      attempts: [{ number: 1, response_status: 503 }],
    });
    expect(await show('deliveries show PAY_1')).toMatchObject({
      code: 1,
      notes: 'There is no payment PAY_1.',
    });
    const open = await records.opened();
    expect((await show(`deliveries show ${open.id}`)).out).toContain('the payment has not ended');
  });
});

describe('payments list', () => {
  it('is payments find', async () => {
    const application = await anApplicationOn(records.sql);
    await exhausted(application);
    const [list, find] = await Promise.all(
      ['list', 'find'].map((name) =>
        runLine(
          () => operationsOn(records.sql),
          words(`payments ${name} --application ${application}`),
        ),
      ),
    );
    expect(list).toMatchObject({ code: 0, out: expect.stringContaining('exhausted') });
    expect(list).toEqual(find);
  });
});
