import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsoleLoginQueries } from '../../../postgres/console-logins.ts';
import { freePort } from '../../../stack/ports.ts';
import { call, type Call } from '../../support/console.ts';
import { createJourney, type Journey } from '../../support/journey.ts';
import { createProcess, type TestProcess } from '../../support/processes.ts';
import { startService, type Service } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
let journey: Journey;
let process: TestProcess;
let port: number;
let cookie: string;
let csrf: string;
beforeAll(async () => {
  service = await startService();
  journey = createJourney(service, (await service.anApplication()).token);
  port = await freePort();
  process = createProcess('console', 'console/main.ts', {
    ...service.env,
    CONSOLE_PORT: String(port),
    CONSOLE_BASE_URL: `http://console.localhost:${port}`,
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
  });
  await process.start();
  const code = await createConsoleLoginQueries(service.sql).issueLink('ada', 'operator');
  const { headers } = await call(port, `/login/${code}`, { method: 'POST', form: {} });
  [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  csrf = /name="csrf" value="([\w-]+)"/.exec((await get('/settings')).text)?.[1] ?? '';
});
afterAll(async () => {
  await process?.stop();
  await service?.stop();
});

const get = (path: string, options: Call = {}) => call(port, path, { cookie, ...options });

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
  expect(page).toContain('<bdi>204</bdi>');
  expect(page).toContain('&quot;event&quot;:&quot;payment.paid&quot;');
  // Nothing can happen any more, so the page stops asking.
  expect(page).not.toContain('hx-get="/payments/');
});

it('a page of an open payment hears of its end, and of nothing while nothing happens', async () => {
  const id = await journey.atGateway();
  const seen = async () => /hx-get="([^"]+)"/.exec((await get(`/payments/${id}`)).text)?.[1] ?? '';
  const address = await until('the payment rests', async () => {
    const found = await seen();
    return (await get(found)).status === 204 && found;
  });
  await journey.choose(id, 'cancel');
  await journey.comeBack(id);
  const text = await until('the page hears of it', async () => {
    const answer = await get(address);
    return answer.status === 200 && answer.text.includes('cancelled') && answer.text;
  });
  expect(text).not.toContain('<html');
});

it('re-triggers an exhausted webhook, which is delivered then', async () => {
  service.receiver.behave(() => 500);
  const id = await journey.finish('pay');
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);
  await until('it is exhausted', async () => (await get('/deliveries')).text.includes(id));
  service.receiver.behave(() => 204);
  const path = `/payments/${id}/retrigger`;
  const form = { csrf, once: 'one', reason: 'the receiver is back' };
  const { status, headers } = await get(path, { method: 'POST', form });
  expect([status, headers.location]).toEqual([303, `/payments/${id}`]);
  await until('it is delivered', async () =>
    (await get('/deliveries?status=delivered')).text.includes(id),
  );
  const again = await get(path, { method: 'POST', form: { ...form, once: 'two' } });
  expect([again.status, again.text.includes('role="alert"')]).toEqual([409, true]);
  const records = await service.sql`
    select actor, action, via, reason from audit_log where subject = ${`payment:${id}`}`;
  expect(records).toEqual([
    { actor: 'ada', action: 'delivery.retrigger', via: 'console', reason: 'the receiver is back' },
  ]);
});

it('shows the age of the sweeper, and says when Temporal is away', async () => {
  await until('the sweeper reports', async () => {
    const { text } = await get(`/overview?mode=live`);
    return text.includes('since its last report');
  });
  await service.engine.stop();
  const text = await until('the figures are read again', async () => {
    const answer = await get('/overview');
    expect(answer.status).toBe(200);
    return answer.text.includes('Temporal is away') && answer.text;
  });
  expect(text).toContain('Payments by hour');
  await service.engine.start();
});

it('logs no path of a login and no cookie', () => {
  const log = process.lines.join('\n');
  expect(log).toContain('"route":"/login/:code"');
  expect(log).not.toContain(cookie.split('=')[1]);
});
