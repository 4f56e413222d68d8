import { beforeAll, describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import {
  anApplicationOn,
  emptyTemporal,
  operationsOn,
} from '../../../support/service/admin-operations.ts';
import { createReplays } from '../../../../postgres/webhooks/replays.ts';
import { until } from '../../../support/until.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const exhausted = (application: string) => records.exhausted({ application });

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
    (slug: string) => `payments list --application ${slug}`,
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

describe('deliveries replay --application', () => {
  /** @param work plays the worker, once Temporal has been told of the replay */
  const replay = (
    application: string,
    work: (id: string) => Promise<unknown>,
    options: Parameters<typeof runLine>[2] = {},
  ) => {
    const line = `deliveries replay --application ${application} --rate 20 --yes`;
    const startReplayMany = async (id: string) => {
      const recorded = until('it is recorded', async () => {
        const [row] = await records.sql`select from replays where id = ${id}`;
        return row;
      });
      void recorded.then(() => work(id));
    };
    const temporal = async () => ({ ...emptyTemporal, startReplayMany });
    return runLine(() => operationsOn(records.sql, { temporal }), words(line), options);
  };
  const progress = (id: string, begun: number, refused: number) =>
    records.sql`update replays set begun = ${begun}, refused = ${refused} where id = ${id}`;
  const end = (id: string, status: 'done' | 'stopped') =>
    createReplays(records.sql).end(id, status);
  const anApplicationWith = async (count: number) => {
    const application = await anApplicationOn(records.sql);
    await Promise.all(Array.from({ length: count }, () => exhausted(application)));
    return application;
  };

  it('follows the replay to its end, and counts', async () => {
    const ran = await replay(await anApplicationWith(3), async (id) => {
      await progress(id, 3, 0);
      await end(id, 'done');
    });
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^replayed +3\nrefused +0$/m),
    });
    expect(ran.notes.split('\n').at(-1)).toBe('3 of 3');
    const refused = await replay(await anApplicationWith(2), async (id) => {
      await progress(id, 1, 1);
      await end(id, 'done');
    });
    expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/^refused +1$/m) });
  });

  it('stops the replay when it is interrupted, and says how far it was', async () => {
    const interruption = new AbortController();
    const ran = await replay(
      await anApplicationWith(3),
      async (id) => {
        await progress(id, 1, 0);
        interruption.abort();
        await until('it is to stop', async () => {
          const [row] = await records.sql`
            select from replays where id = ${id} and stop_requested`;
          return row;
        });
        await end(id, 'stopped');
      },
      interruption,
    );
    expect(ran).toMatchObject({ code: 1, out: expect.stringMatching(/^status +stopped$/m) });
    expect(ran.out).toMatch(/^replayed +1$/m);
  });

  it('refuses an empty name, and says if nothing is exhausted', async () => {
    const nothing = async () => {};
    expect(await replay('', nothing)).toMatchObject({
      code: 2,
      notes: expect.stringContaining('--application has no value'),
    });
    expect(await replay(await anApplicationWith(0), nothing)).toMatchObject({
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
    expect(JSON.parse(programs.out)).toMatchObject([
      {
        event_id: eventId(id),
        payment_id: id,
        status: 'exhausted',
        round: 1,
        attempts: [{ number: 1, response_status: 503 }],
      },
    ]);
    expect(await show('deliveries show PAY_1')).toMatchObject({
      code: 1,
      notes: 'There is no payment PAY_1.',
    });
    const open = await records.opened();
    expect((await show(`deliveries show ${open.id}`)).out).toContain('has no event yet');
  });
});
