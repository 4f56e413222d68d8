import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { createReplays } from '../../../../postgres/webhooks/replays.ts';
import { TemporalUnavailable } from '../../../../temporal/workflow-calls.ts';
import { fieldOf, type Person } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';
import { recordReplayResult } from '../../../support/data/replay-result.ts';

let isTemporalAway = false;
const started: [id: string, application: string | null][] = [];
const { console, sql, ids } = await startFilledConsole({
  temporal: {
    async startReplayMany(id, application) {
      if (isTemporalAway) throw new TemporalUnavailable('away');
      started.push([id, application]);
    },
  },
});
const person = await console.logIn('operator');
afterEach(async () => {
  isTemporalAway = false;
  await sql`delete from replays`;
});

const ask = async (query: string, to = new Date()) => {
  const path = `/deliveries/replay?mode=live&${query}&to=${to.toISOString()}`;
  const { status, text } = await person.get(path);
  const form = {
    form_id: fieldOf(text, 'form_id'),
    rate: '20',
    reason: 'the receiver is back',
  };
  return { status, text, send: () => person.post(path, form) };
};
/** Begins a replay of all that are exhausted. @returns the path of its page, and its id */
const begin = async () => {
  const { send } = await ask('status=exhausted&scope=all');
  const path = (await send()).headers.location ?? '';
  return { path, id: path.split('/').at(-1) ?? '' };
};

const rows = () => sql`
  select id, application, test, trigger, delivery, matched, per_second,
    event_ids::text[] from replays`;

const exhausted = async (condition = sql`true`) => {
  const [row] = await sql<{ many: number }[]>`
    select count(*) as many from deliveries where status = 'exhausted' and not test and ${condition}`;
  return row?.many ?? 0;
};

describe('a replay of all that match', () => {
  it('names their number, and starts one workflow for all of them', async () => {
    const { text, send } = await ask('status=exhausted&scope=all');
    const many = await exhausted();
    expect(text).toContain(`Replay ${many} webhooks`);
    const { status, headers } = await send();
    const [row] = await rows();
    expect([status, headers.location]).toEqual([303, `/deliveries/replays/${row?.['id']}`]);
    expect(row).toMatchObject({
      application: null,
      test: false,
      trigger: 'admin',
      delivery: 'exhausted',
      matched: many,
      per_second: 20,
      event_ids: null,
    });
    expect(started.at(-1)).toEqual([row?.['id'], null]);
  });

  it('takes the deliveries that the list showed, and none that came later', async () => {
    const to = new Date();
    await sql`
      update deliveries set created_at = now() + interval '1 second'
      where payment_id = ${ids.exhausted}`;
    const { send, text } = await ask('status=exhausted&scope=all', to);
    const many = (await exhausted()) - 1;
    expect(text).toContain(`Replay ${many} webhooks`);
    await send();
    expect(await sql`select from_at, to_at, matched from replays`).toEqual([
      { from_at: null, to_at: to, matched: many },
    ]);
    await sql`
      update deliveries d set created_at = e.created_at from events e
      where e.id = d.event_id and d.payment_id = ${ids.exhausted}`;
  });

  it('leaves out applications without a webhook URL', async () => {
    await sql`update applications set webhook_url = null where slug = 'tickets'`;
    const { text } = await ask('status=exhausted&scope=all');
    expect(text).toContain(`Replay ${await exhausted(sql`application = 'shop'`)} webhooks`);
    const none = await ask('status=exhausted&scope=all&application=tickets');
    expect([none.status, none.text.includes('has no webhook URL')]).toEqual([409, true]);
    await sql`
      update applications set webhook_url = 'https://shop.example/webhook' where slug = 'tickets'`;
  });

  it('runs once for a filter, and says which one runs', async () => {
    const first = await ask('status=exhausted&scope=all&application=shop');
    const second = await ask('status=exhausted&scope=all&application=shop');
    const { headers } = await first.send();
    const refused = await second.send();
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(headers.location?.split('/').at(-1));
    const other = await ask('status=exhausted&scope=all&application=tickets');
    expect((await other.send()).status).toBe(303);
    expect(await rows()).toHaveLength(2);
  });

  it('starts nothing while Temporal is unavailable, and says so', async () => {
    const { send } = await ask('status=exhausted&scope=all');
    isTemporalAway = true;
    const { status, text } = await send();
    expect([status, text.includes('Temporal is unavailable')]).toEqual([409, true]);
    expect(await rows()).toEqual([]);
  });
});

it('a replay of the selected asks to select one first', async () => {
  const { status, text } = await ask('scope=selected&status=exhausted');
  expect([status, text.includes('Select a delivery first')]).toEqual([409, true]);
});

describe('the list, the question and the replay agree', () => {
  beforeAll(async () => {
    const classes = ['tls', 'timeout', 'dns'];
    await sql`
      update deliveries set error_class = (${classes}::text[])[1 + number % 3]
      from (
        select event_id, row_number() over (partition by application, test order by event_id) as number
        from deliveries where status = 'exhausted') as numbered
      where numbered.event_id = deliveries.event_id`;
  });

  afterAll(
    () => sql`
      update deliveries set error_class = 'http_status' where status = 'exhausted'`,
  );

  /** The rows of a list, over all its pages, and the form that leads to the question. */
  const read = async (address: string, reader: Person) => {
    const events: string[] = [];
    let form = '';
    for (let next: string | undefined = address; next !== undefined;) {
      const { text } = await reader.get(next);
      form ||= /<form method="get" action="\/deliveries\/replay">[^]*?<div/.exec(text)?.[0] ?? '';
      events.push(...[...text.matchAll(/name="event" value="([^"]+)"/g)].map(([, id]) => id ?? ''));
      next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = hidden.map(([, name = '', value = '']): [string, string] => [name, value]);
    return { events, fields: new URLSearchParams(fields) };
  };

  it.each([
    'status=exhausted',
    'status=delivered',
    'application=shop',
    'mode=live',
    'mode=test',
    'kind=payment.paid',
    'error=tls',
    'period=6+hours',
    'from=2020-01-01T00:00&zone=Europe/Berlin',
    'period=7+days&status=delivered&application=shop&mode=live&kind=payment.paid',
    'status=exhausted&application=tickets&error=timeout&from=2020-01-01T00:00&zone=UTC',
    'status=exhausted&status=delivered&application=Shop&mode=both&scope=all&event=1&unknown=1',
  ])('on %s', async (query) => {
    const reader = person.lookingAt(query.startsWith('mode=test') ? 'test' : 'live');
    const { events, fields } = await read(`/deliveries?${query}`, reader);
    expect(events.length).toBeGreaterThan(0);
    const path = `/deliveries/replay?${String(fields)}&scope=all`;
    const question = await reader.get(path);
    const many = events.length === 1 ? 'one webhook' : `${events.length} webhooks`;
    expect(question.text).toContain(`Replay ${many}`);
    const formId = fieldOf(question.text, 'form_id');
    const begun = await reader.post(path, { form_id: formId, rate: '1', reason: 'a walk' });
    const replays = createReplays(sql);
    const replay = await replays.getForWorker(begun.headers.location?.split('/').at(-1) ?? '');
    const taken = await replays.listNext(replay!, 1_000);
    expect(taken.map(({ id }) => id)).toEqual(events.toReversed());
    // The page of the replay leads back to the same list.
    const page = await reader.get(begun.headers.location ?? '');
    const [, back = ''] = /href="(\/deliveries\?[^"]+)"/.exec(page.text) ?? [];
    expect(await read(back.replaceAll('&amp;', '&'), reader)).toEqual({ events, fields });
  });
});

describe('the result of a replay', () => {
  it('is a file with a line for each delivery, in order', async () => {
    const { path, id } = await begin();
    const page = await person.get(path);
    expect(page.text).not.toContain('/result"');
    await recordReplayResult(sql, id, { paymentId: ids.exhausted, begun: true });
    await recordReplayResult(sql, id, { paymentId: ids.open, begun: true });
    await recordReplayResult(sql, id, { paymentId: ids.hostile, begun: false });
    await sql`
      update deliveries set order_id = '=HYPERLINK("x",1)' where payment_id = ${ids.exhausted}`;
    const { text } = await person.get(path);
    const href = /href="([^"]+\/result)"/.exec(text)?.[1] ?? '';
    const file = await person.get(href);
    expect(file.status).toBe(200);
    expect(file.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(file.headers['content-disposition']).toBe(`attachment; filename="${id}.csv"`);
    const [headings, first, third] = file.text.split('\r\n');
    expect(headings).toBe(
      'number,result,payment_id,event_id,event,application,mode,order_id,delivery,attempts,response_status,error',
    );
    expect(first).toMatch(
      new RegExp(
        `^1,begun,${ids.exhausted},${eventId(ids.exhausted)},payment\\.\\w+,\\w+,\\w+,"'=HYPERLINK\\(""x"",1\\)",exhausted,6,503,http_status$`,
      ),
    );
    // The second payment has no event: its records were deleted meanwhile.
    expect(third).toMatch(new RegExp(`^3,left out,${ids.hostile},`));
    await sql`
      update deliveries set order_id = 'order-1' where payment_id = ${ids.exhausted}`;
  });

  it('breaks off if its lines cannot be read, so that nobody takes it for whole', async () => {
    const { path } = await begin();
    await sql`revoke select on replay_results from payments_console`;
    await expect(person.get(`${path}/result`)).rejects.toThrow('aborted');
    await sql`grant select on replay_results to payments_console`;
    expect((await person.get(`${path}/result`)).status).toBe(200);
  });

  it('has more lines than one read of it', async () => {
    const { path, id } = await begin();
    await sql`
      insert into replay_results (replay_id, number, event_id, begun)
      select ${id}, n, ${eventId(ids.exhausted)}::uuid, true from generate_series(1, 2500) as n`;
    const { text } = await person.get(`${path}/result`);
    const numbers = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => Number(line.split(',')[0]));
    expect(numbers).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1));
  });
});

describe('the page of a replay', () => {
  it('shows how far it is, and polls only while it runs', async () => {
    const { path, id } = await begin();
    const many = await exhausted();
    const before = await person.get(path);
    expect(before.text).toContain(`0 of ${many}`);
    const address = /hx-get="([^"]+)"/.exec(before.text)?.[1] ?? '';
    expect((await person.get(address)).status).toBe(204);
    await recordReplayResult(sql, id, { paymentId: ids.exhausted, begun: true });
    await recordReplayResult(sql, id, { paymentId: ids.hostile, begun: false });
    const { text } = await person.get(address);
    expect(text).toContain(`2 of ${many}`);
    expect(text).toContain('1, had another status');
    await createReplays(sql).end(id, 'done');
    const after = await person.get(path);
    expect(after.text).not.toContain('hx-get');
    expect(after.text).not.toContain('/stop"');
    const list = await person.get('/deliveries/replays');
    expect(list.text).toMatch(new RegExp(`href="${path}"[^]*?<bdi>operator-person</bdi>`));
  });

  it('shows a running one beside the deliveries, with who stops it and why', async () => {
    const { path } = await begin();
    const deliveries = await person.get('/deliveries');
    expect(deliveries.text).toContain(`A replay is running: 0 of ${await exhausted()}`);
    const form = { form_id: 'stop', reason: 'the wrong application' };
    const stopped = await person.post(`${path}/stop`, form);
    expect([stopped.status, stopped.headers.location]).toEqual([303, path]);
    const { text } = await person.get(path);
    expect(text).toContain('stopping');
    expect(text).toContain('operator-person: the wrong application');
    expect((await person.post(`${path}/stop`, { ...form, form_id: 'again' })).status).toBe(409);
  });
});

it('a viewer can select nothing', async () => {
  const text = await (await console.logIn('viewer')).read('/deliveries');
  expect(text).not.toContain('type="checkbox"');
  expect(text).not.toContain('/deliveries/replay"');
});
