import { labelOf } from '../../../admin/operations/labels.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { eventWorkflowId } from '../../../temporal/start-options.ts';
import { aDispute, recordDisputes } from '../../support/data/disputes.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { forFile } from '../../support/for-file.ts';
import { runLine, words } from '../../support/service/admin-line.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { logInOperator } from '../../support/service/console.ts';
import { createProcess } from '../../support/service/processes.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const service = await forFile(startService());
const { sql, receiver } = service;
const operations = operationsOf(service);
const port = await freePort();
const consoleProcess = createProcess('console', 'admin/console/main.ts', {
  ...service.env,
  CONSOLE_PORT: String(port),
  CONSOLE_BASE_URL: `http://console.localhost:${port}`,
});
await forFile(consoleProcess.start().then(() => consoleProcess));
const { get, csrf } = await logInOperator(port, sql);
const post = async (path: string, form: Record<string, string> = {}) => {
  const { status, text: page } = await get(path, { method: 'POST', form: { csrf, ...form } });
  expect(status, page).toBe(303);
};

const { application, token, journey } = await service.anApplication();
await sql`
  update applications set refund_events = true, dispute_events = true where slug = ${application}`;

interface StoredEvent {
  id: string;
  kind: string;
  subject: string;
  body: Buffer;
}
const eventsOf = (paymentId: string) => sql<StoredEvent[]>`
  select e.id::text, e.kind, e.subject, e.body from events e where e.payment_id = ${paymentId}`;
const postsOf = ({ id }: StoredEvent) =>
  receiver.all.filter(({ headers }) => headers['x-service-event-id'] === id);
/** The workflow of a delivery ends after the delivery. */
const closes = ({ id, kind, subject }: StoredEvent) =>
  service.client.workflow
    .getHandle(kind.startsWith('dispute.') ? eventWorkflowId(id) : subject)
    .result();

/** The payer's bank takes the money. */
const dispute = async (id: string) => {
  const lost = aDispute({ status: 'lost', amount: 1250 });
  const [ownEventId = ''] = await recordDisputes(sql, id, [lost]);
  await createWorkflowCalls(service.client).restart({
    ...{ id, application, ownEventId },
    orderId: String((await journey.get(id)).json['order_id']),
  });
};

/** A paid payment with a refund that failed, one that an admin has recorded, and a dispute. */
const aPayment = async () => {
  const id = await journey.finish('pay');
  const failed = await refund(journey, id, { amount: 100, sandbox: { outcome: 'failed' } });
  await refundBecomes(journey, String(failed.json['refund_id']), 'failed');
  const made = await operations.refunds.create(id, {
    amount: 200,
    recorded: true,
    reason: 'paid back in cash',
  });
  await refundBecomes(journey, made.refund.id, 'succeeded');
  await dispute(id);
  const events = await eventsOf(id);
  await until('every event is sent', () => events.every((event) => postsOf(event).length === 1));
  await Promise.all(events.map(closes));
  return { id, events };
};

const { id: paymentId, events } = await aPayment();
const kinds = ['payment.paid', 'refund.failed', 'refund.created', 'dispute.closed'] as const;
const eventOf = (kind: string): StoredEvent => {
  const found = events.find((event) => event.kind === kind);
  if (!found) throw new Error(`There is no ${kind}`);
  return found;
};

const client = async (...args: string[]) => {
  const child = spawn(process.execPath, ['client/src/cli/main.ts', ...args], {
    env: { PAYMENTS_BASE_URL: service.url, PAYMENTS_TOKEN: token },
  });
  const [out, errors, [ended]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(ended, errors).toBe(0);
  return out;
};
const admin = async (line: string) => {
  const ran = await runLine(() => operations, words(line));
  expect(ran.code, ran.notes).toBe(0);
  return ran.out;
};
/** The address of the button in the row of an event. */
const buttonOf = async (page: string, { id }: StoredEvent) => {
  const { text: html } = await get(page);
  const all = html.split('<tr').map((part) => part.split('</tr>', 1)[0] ?? '');
  const rows = all.filter((row) => row.includes(`href="/events/${id}"`));
  expect(rows, page).toHaveLength(1);
  return /formaction="([^"]+)"/.exec(rows[0] ?? '')?.[1] ?? '';
};
const wholeDay = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 60_000).toISOString(),
  delivery: 'delivered',
});

const replays: Record<string, (event: StoredEvent) => Promise<unknown>> = {
  'the command line': ({ id }) => admin(`deliveries replay ${id} --yes`),
  'the API': ({ id }) => journey.request('POST', `/api/v1/events/${id}/replay`),
  "the client's command": ({ id }) => client('events', 'replay', id),
  'the page of the event': async ({ id }) => {
    const { text: html } = await get(`/events/${id}`);
    await post(/formaction="(\/events[^"]+)"/.exec(html)?.[1] ?? '');
  },
  'the page of the payment': async (event) => post(await buttonOf(`/payments/${paymentId}`, event)),
  'the list of deliveries': async (event) =>
    post(await buttonOf('/deliveries?status=delivered', event)),
  "the list of an application's events": async (event) =>
    post(await buttonOf(`/applications/${application}/events`, event)),
  'a replay of the selected': async ({ id }) => {
    const query = new URLSearchParams({
      scope: 'selected',
      status: 'delivered',
      mode: 'test',
      to: wholeDay().to,
      event: id,
    });
    await post(`/deliveries/replay?${String(query)}`, { reason: 'a test', rate: '20' });
  },
};

describe.each(kinds)('%s', (kind) => {
  it.each(Object.keys(replays))(
    'is sent again through %s with its bytes, and no other event',
    async (way) => {
      const event = eventOf(kind);
      await Promise.all(events.map(closes));
      // A round that has just begun is not begun again.
      await sql`update deliveries set round_began_at = null where payment_id = ${paymentId}`;
      const before = new Map(events.map((each) => [each.kind, postsOf(each).length]));
      await replays[way]?.(event);
      const sent = await until(`${kind} is sent again`, () => {
        const posts = postsOf(event);
        return posts.length > (before.get(kind) ?? 0) && posts.at(-1);
      });
      expect(sent.body.equals(event.body)).toBe(true);
      expect(sent.headers['x-service-event']).toBe(kind);
      await closes(event);
      for (const each of events)
        expect(postsOf(each), each.kind).toHaveLength(
          (before.get(each.kind) ?? 0) + (each === event ? 1 : 0),
        );
    },
  );

  it('is shown as such, wherever the event is named', async () => {
    const { id, subject, body } = eventOf(kind);
    const payload = body.toString();
    const escaped = payload.replaceAll('"', '&quot;');
    const page = (await get(`/events/${id}`)).text;
    expect(page).toContain(escaped);
    expect(page).toContain(`>${kind}</code></dd>`);
    const searched = await get('/search', { method: 'POST', form: { csrf, text: id } });
    expect(searched.headers.location).toBe(`/events/${id}`);
    const question = (await get(`/events/${id}/replay`)).text;
    expect(question).toContain(`“${labelOf('event', kind)}” of ${subject}`);
    const [shown] = JSON.parse(await admin(`deliveries show ${id} --json`)) as object[];
    expect(shown).toMatchObject({ event_id: id, kind, payment_id: paymentId, body: payload });
    const { text: detail } = await journey.request('GET', `/api/v1/events/${id}`);
    expect(detail).toContain(`"payload":${payload}`);
    expect(JSON.parse(await client('events', 'show', id))).toMatchObject({
      event: kind,
      payload: JSON.parse(payload) as object,
    });
    const [record] = await operations.auditLog({ subject: `payment:${paymentId}`, limit: 50 });
    expect(record).toMatchObject({ after: { event: expect.stringMatching(/^[\da-f-]{36}$/) } });
  });
});

it('every list of a payment has all its events', async () => {
  const page = (await get(`/payments/${paymentId}`)).text;
  const shown = await admin(`payments show ${paymentId}`);
  const deliveries = await admin(`deliveries show ${paymentId}`);
  const listed = await client('events', 'list', '--payment', paymentId);
  expect(events.map(({ kind }) => kind).toSorted()).toEqual(
    [...kinds, 'refund.succeeded'].toSorted(),
  );
  for (const { id } of events)
    for (const list of [page, shown, deliveries, listed]) expect(list).toContain(id);
});

it('a replay of all events of a time sends each once, with its own bytes', async () => {
  await sql`update deliveries set round_began_at = null where payment_id = ${paymentId}`;
  const before = new Map(events.map((each) => [each.kind, postsOf(each).length]));
  const { status } = await journey.request('POST', '/api/v1/replays', wholeDay());
  expect(status).toBe(202);
  for (const event of events) {
    const count = (before.get(event.kind) ?? 0) + 1;
    const posts = await until(`${event.kind} is sent`, () => {
      const all = postsOf(event);
      return all.length >= count && all;
    });
    expect(posts).toHaveLength(count);
    expect(posts.every(({ body }) => body.equals(event.body))).toBe(true);
  }
  await Promise.all(events.map(closes));
});

it('a payment with several events is not replayed by its own id', async () => {
  const ran = await runLine(() => operations, words(`deliveries replay ${paymentId} --yes`));
  expect(ran.code).toBe(1);
  for (const { id, kind } of events) expect(ran.notes).toContain(`${id}  ${kind}`);
});

it('an event of a refund is sent again while another one of it is failing', async () => {
  const id = await journey.finish('pay');
  receiver.behave(() => (receiver.all.at(-1)?.json['event'] === 'refund.succeeded' ? 500 : 204));
  const { refund: made } = await operations.refunds.create(id, {
    amount: 200,
    recorded: true,
    reason: 'paid back in cash',
  });
  await refundBecomes(journey, made.id, 'succeeded');
  const own = await eventsOf(id);
  const created = own.find(({ kind }) => kind === 'refund.created');
  const succeeded = own.find(({ kind }) => kind === 'refund.succeeded');
  if (!created || !succeeded) throw new Error('An event is missing');
  const statusOf = async (event: StoredEvent) => {
    const { json } = await journey.request('GET', `/api/v1/events/${event.id}`);
    return (json['delivery'] as { status: string }).status;
  };
  await until('one is delivered', async () => (await statusOf(created)) === 'delivered');
  await until('one has failed', () => postsOf(succeeded).length === 1);
  await sql`update deliveries set round_began_at = null where event_id = ${created.id}`;
  await operations.replays.replayOne(created.id, null);
  const again = await until('it is sent again', () => postsOf(created)[1]);
  expect(again.body.equals(created.body)).toBe(true);
  expect(postsOf(succeeded)).toHaveLength(1);
  receiver.behave(() => 204);
  await sql`
    update attempts set started_at = now() - interval '1 minute' where event_id = ${succeeded.id}`;
  await operations.replays.replayOne(succeeded.id, null);
  await until('the other one is sent', () => postsOf(succeeded).length === 2);
  await Promise.all([created, succeeded].map(closes));
});
