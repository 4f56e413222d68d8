import { expect, it } from 'vitest';
import { type RunLine, runLine, words } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const run: RunLine = (line, options) => runLine(() => operationsOn(records.sql), line, options);

it('reads a webhook URL from a prompt or a pipe, and never prints its query', async () => {
  const secret = 'https://shop.example/hook?key=hidden';
  const create = 'applications create keyed --gateway sandbox --callback-url https://a.example/';
  const created = await run(words(`${create} --webhook-url -`), { secret });
  const changed = await run(words('applications update shop --webhook-url -'), { secret });
  for (const { code, out, notes } of [created, changed]) {
    expect([code, notes]).toEqual([0, '']);
    expect(out).toContain('https://shop.example/hook?…');
  }
  const urls = await records.sql`
    select webhook_url from applications where slug in ('keyed', 'shop')`;
  expect(urls).toEqual([{ webhook_url: secret }, { webhook_url: secret }]);
  expect(await run(words('applications update shop --webhook-url -'))).toMatchObject({
    code: 1,
    notes: 'Standard input has no webhook URL.',
  });
});

it('creates an application with every setting that an update has', async () => {
  await records.sql`insert into gateways (slug, driver, kind) values ('second', 'sandbox', 'sandbox')`;
  const create = 'applications create whole --gateway sandbox --callback-url https://a.example/';
  const settings =
    '--fallback-gateway second --requests-per-minute 77 --refund-events on --dispute-events on --orders-paid-once no --locale fa';
  const { code, notes } = await run([...words(`${create} ${settings} --display-name`), 'The Shop']);
  expect([code, notes]).toEqual([0, '']);
  const [row] = await records.sql`
    select fallback_gateways, requests_per_minute, refund_events, dispute_events, orders_paid_once, display_name, locale
    from applications where slug = 'whole'`;
  expect(Object.values(row ?? {})).toEqual([['second'], 77, true, true, false, 'The Shop', 'fa']);
  const bad = words(`${create.replace('whole', 'bad')} --display-name`);
  expect(await run([...bad, '\u202e'])).toMatchObject({ code: 1 });
  expect(await records.sql`select from applications where slug = 'bad'`).toEqual([]);
});

it("sets and removes the payers' name and language, and refuses a language without pages", async () => {
  const update = 'applications update shop';
  const named = await run([...words(`${update} --locale fa --display-name`), 'The Shop']);
  expect([named.code, named.out]).toEqual([0, expect.stringMatching(/The Shop[^]*\bfa\b/)]);
  expect((await run(words(`${update} --no-display-name`))).code).toBe(0);
  expect((await run(words(`${update} --locale fr`))).code).not.toBe(0);
  const [row] =
    await records.sql`select display_name, locale from applications where slug = 'shop'`;
  expect(row).toEqual({ display_name: null, locale: 'fa' });
});
