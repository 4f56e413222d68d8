import { expect, it } from 'vitest';
import { connect } from '../../../../postgres/driver/connection.ts';
import { freePort } from '../../../../stack/ports.ts';
import { call, fieldOf, logInOperator } from '../../../support/service/console.ts';
import { readProjectFile } from '../../../support/checks/project-files.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { startOwnPostgres } from '../../../support/servers/own-postgres.ts';
import { createProcess } from '../../../support/service/processes.ts';
import { startService } from '../../../support/service/service.ts';
import { skipAllTime } from '../../../support/service/skip-time.ts';
import { forFile } from '../../../support/for-file.ts';
import { until } from '../../../support/until.ts';

// A server of its own, because roles belong to a whole server.
const database = await startOwnPostgres();
const owner = connect(database.url, { name: 'tests-owner', max: 1 });
await owner.unsafe(readProjectFile('deploy/roles.sql')).simple();
await owner.unsafe('create role login_console login in role payments_console');
await owner.end();
const url = new URL(database.url);
url.username = 'login_console';
const service = await forFile(startService({ database, ownTemporal: true }));
const journey = createJourney(service, (await service.anApplication()).token);
const port = await freePort();
const process = createProcess('console', 'admin/console/main.ts', {
  ...service.env,
  DATABASE_URL: url.href,
  CONSOLE_PORT: String(port),
  CONSOLE_BASE_URL: `http://console.localhost:${port}`,
  TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
  SKIP_TIME: 'true',
});
await forFile(process.start().then(() => process));
const { get, csrf } = await logInOperator(port, service.sql);

it('answers its supervisor under any name, and shows nothing there', async () => {
  const { status, text } = await call(port, '/livez', { headers: { host: '127.0.0.1' } });
  expect([status, text]).toEqual([204, '']);
});

it('shows a payment from its creation to its delivered webhook, with its workflow', async () => {
  const id = await journey.finish('pay');
  const page = await until('the console shows the delivered webhook', async () => {
    const { text } = await get(`/payments/${id}`);
    return /<\/span> delivered<\/span><\/dd>/.test(text) && text;
  });
  expect(page).toContain(`http://127.0.0.1:8233/namespaces/default/workflows/${id}`);
  expect(page).toMatch(/Attempt 1[^]*204 · \d+ ms/);
  expect(page).toContain('&quot;event&quot;:&quot;payment.paid&quot;');
  // Nothing can happen any more, so the page stops asking.
  expect(page).not.toContain('hx-get="/payments/');
});

/** Ends payments whose webhook fails six times. */
const exhaust = async (many: number): Promise<string[]> => {
  service.receiver.behave(() => 500);
  const ids: string[] = [];
  for (let n = 0; n < many; n += 1) ids.push(await journey.finish('pay'));
  for (const id of ids) await until('the first attempt', () => service.receiver.of(id)[0]);
  await Promise.all(ids.map((id) => skipAllTime(service.client, id)));
  await until('they are exhausted', async () => {
    const { text } = await get('/deliveries?status=exhausted');
    return ids.every((id) => text.includes(id));
  });
  service.receiver.behave(() => 204);
  return ids;
};
const beginReplay = async (query: string, rate: string) => {
  const path = `/deliveries/replay?mode=test&${query}&to=${new Date().toISOString()}`;
  const formId = fieldOf((await get(path)).text, 'form_id');
  const form = { csrf, form_id: formId, rate, reason: 'the receiver is back' };
  const { headers } = await get(path, { method: 'POST', form });
  return headers.location ?? '';
};
const isDelivered = async (id: string) => {
  const [row] = await service.sql`select status from deliveries where payment_id = ${id}`;
  return row?.['status'] === 'delivered';
};

it('replays all that match, at their rate, to the end', async () => {
  const ids = await exhaust(3);
  const listed = (await get('/deliveries?error=http_status')).text;
  const events = await service.sql`
    select event_id as id from deliveries where payment_id = any(${ids})`;
  expect(events).toHaveLength(3);
  for (const { id } of events) expect(listed).toContain(`/events/${String(id)}`);
  expect((await get('/deliveries?error=tls')).text).toContain('No delivery matches');
  const path = await beginReplay('scope=all&status=exhausted&error=http_status', '2');
  const text = await until('it has ended', async () => {
    const answer = await get(path);
    return answer.text.includes('</span> done') && answer.text;
  });
  expect(text).toContain('3 of 3');
  for (const id of ids) await until('it is delivered', () => isDelivered(id));
  const [, ...lines] = (await get(`${path}/result`)).text.trimEnd().split('\r\n');
  expect(lines.map((line) => line.split(',').slice(0, 3))).toEqual(
    ids.map((id, index) => [String(index + 1), 'begun', id]),
  );
  for (const line of lines) expect(line).toMatch(/,delivered,7,204,$/);
  const times = await service.sql<{ at: Date; trigger: string }[]>`
    select round_began_at as at, trigger from deliveries
    where payment_id = any(${ids}) order by round_began_at`;
  expect(new Set(times.map(({ trigger }) => trigger))).toEqual(new Set(['admin']));
  const [first, , last] = times.map(({ at }) => at.getTime());
  expect((last ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(900);
  const [row] = await service.sql<{ many: number }[]>`
    select count(*) as many from audit_log where action = 'delivery.replay_many'`;
  expect(row?.many).toBe(1);
});

it('sends all failing ones at once, in their rounds', async () => {
  service.receiver.behave(() => 500);
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1) ids.push(await journey.finish('pay'));
  await until('both are failing', async () => {
    const { text } = await get('/deliveries?status=failing');
    return ids.every((id) => text.includes(id));
  });
  service.receiver.behave(() => 204);
  // A failing one is not sent again within ten seconds after its last attempt began.
  await service.sql`
    update attempts set started_at = started_at - interval '1 minute'
    where event_id in (select event_id from deliveries where payment_id = any(${ids}))`;
  const path = await beginReplay('scope=all&status=failing', '2');
  for (const id of ids) await until('it is delivered', () => isDelivered(id));
  const rounds = await service.sql`
    select distinct d.round, t.number from deliveries d join attempts t on t.event_id = d.event_id
    where d.payment_id = any(${ids}) and t.response_status = 204`;
  expect([...rounds]).toEqual([{ round: 1, number: 2 }]);
  expect((await get(path)).text).toContain('2 of 2');
});

it('skips to the deadline of an open payment, as npm start offers it, and no time of a live one', async () => {
  const id = await journey.create();
  await journey.checkout(id);
  const page = `/payments/${id}`;
  const skip = () => get(`${page}/skip`, { method: 'POST', form: { csrf } });
  await service.sql`update payments set test = false where id = ${id}`;
  const { status, text } = await skip();
  expect([status, text.includes('for test payments only')]).toEqual([409, true]);
  expect((await get(page)).text).not.toContain('Skip to the next step');
  await service.sql`update payments set test = true where id = ${id}`;
  expect((await get(page)).text).toContain('Skip to the next step');
  const skipped = await skip();
  expect([skipped.status, skipped.headers.location]).toEqual([303, page]);
  await until('it has expired', async () => (await get(page)).text.includes('</span> expired'));
});

it('sends a test webhook through a worker, and shows what the receiver answered', async () => {
  service.receiver.behave(() => 418);
  const [row] = await service.sql<{ slug: string }[]>`
    select slug from applications where webhook_url is not null order by created_at desc limit 1`;
  const path = `/applications/${row?.slug}/test-webhook`;
  const form = { csrf, form_id: 'sample', reason: 'a new receiver' };
  const { text } = await get(path, { method: 'POST', form });
  expect(text).toContain('The receiver did not accept the sample');
  expect(text).toContain('<bdi>418</bdi>');
  expect(text).toContain('webhook-test');
  service.receiver.behave(() => 204);
  const again = await get(path, { method: 'POST', form: { ...form, form_id: 'another' } });
  expect(again.text).toContain('The receiver accepted the sample');
});

it('shows the age of the sweeper, and says when Temporal is unavailable', async () => {
  await until('the sweeper reports', async () => {
    const { text } = await get('/overview');
    return /last report \d+ s ago/.test(text);
  });
  await service.engine.stop();
  const text = await until('the figures are read again', async () => {
    const answer = await get('/overview');
    expect(answer.status).toBe(200);
    return answer.text.includes('Temporal is unavailable') && answer.text;
  });
  expect(text).toContain('Payments by hour');
  await service.engine.start();
});
