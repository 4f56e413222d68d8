import { createServer, type Socket } from 'node:net';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createNoticeActivities } from '../../../activities/notices.ts';
import type { NoticeKind } from '../../../contract/notice.ts';
import { createMailer, type Mailer, type MailServer } from '../../../mail/smtp.ts';
import { createNoticeAddresses } from '../../../postgres/notices/addresses.ts';
import { createNoticeQueue } from '../../../postgres/notices/queue.ts';
import { createRegistry, createWorkerMetrics } from '../../../telemetry/metrics.ts';
import { countNotices } from '../../../worker/instrumented.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { listenForTest } from '../../support/servers/listen.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { readableLogger } from '../../support/service/scripted-gateway.ts';

const address = 'ops@shop.example';
const password = 'hunter2';
const us = { from: 'payments@pay.example', publicBaseUrl: 'https://pay.example' };

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

const addresses = () => createNoticeAddresses(records.sql);

const insertNotice = (kind: NoticeKind) => records.sql`
  insert into notices (application, kind, state_since, address, created_at, next_try_at)
  values ('shop', ${kind}, '2026-11-27T10:00:00.123456Z', ${address}, now(), now())`;
/** A confirmed address, and one notice for it. */
const aNotice = async () => {
  await records.sql`
    insert into notice_addresses (application, address, confirmed_at) values ('shop', ${address}, now())`;
  await insertNotice('failing');
};
/** The time of the next try is there. */
const becomeDue = () => records.sql`update notices set next_try_at = now()`;

const noticesNow = () => records.sql<
  { result: string | null; tries: number; dueInMinutes: number | null; isClaimed: boolean }[]
>`
  select result, tries, claimed_at is not null as "isClaimed",
    round(extract(epoch from next_try_at - now()) / 60)::int as "dueInMinutes"
  from notices order by created_at`;

const aMailServer = async (options: Partial<Parameters<typeof startMailServer>[0]> = {}) => {
  const server = await startMailServer({ user: 'payments', password, ...options });
  onTestFinished(server.stop);
  return server;
};

/** A server that answers each connection in this way. @returns its port, and a mailer without a login */
const aRawServer = async (behave: (socket: Socket) => void) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    behave(socket);
  });
  const port = await listenForTest(server);
  return { port, mailer: createMailer({ host: '127.0.0.1', port, ...us }) };
};

const mailerOf = ({ port }: { port: number }, login: Partial<MailServer> = {}) =>
  createMailer(
    { host: 'localhost', port, user: 'payments', password, ...us, ...login },
    { tls: { ca: selfSigned.cert }, plain: false },
  );

/** Runs a round as Temporal does. @returns what it logged and counted */
const round = async (mailer: Mailer | undefined) => {
  const registry = createRegistry();
  const { logger, warnings } = readableLogger();
  const { sendNotices } = createNoticeActivities({
    noticeQueue: createNoticeQueue(records.sql),
    receivers: {
      get: async () => ({
        state: 'failing',
        since: null,
        lastAcceptedAt: null,
        waiting: 1_000,
        exhausted: 3,
        lastError: 'timeout',
        nextAttemptAt: new Date('2026-11-27T12:30:00Z'),
      }),
    },
    mailer,
    countNotices: countNotices(createWorkerMetrics(registry)),
    publicBaseUrl: 'https://pay.example',
    consoleUrl: 'https://console.example',
    logger,
  });
  const error: unknown = await new MockActivityEnvironment().run(sendNotices).catch((e) => e);
  const counted = Object.fromEntries(
    ((await registry.getSingleMetric('payments_notices_total')?.get())?.values ?? [])
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [labels['result'], value]),
  );
  return { error, counted, text: JSON.stringify(warnings()) };
};

const linkIn = (text: string, end: string): string =>
  new RegExp(`https://pay\\.example/api/v1/notices/([\\w-]{43})${end}`).exec(text)?.[1] ?? '';

it('sends one mail a notice: the state, numbers and links, and nothing of an event', async () => {
  const server = await aMailServer();
  await aNotice();
  const { counted, error } = await round(mailerOf(server));
  expect(error).toMatchObject({ type: 'NoticesSent' });
  expect(counted).toEqual({ sent: 1 });
  await round(mailerOf(server));
  expect(server.mails).toHaveLength(1);
  const [mail] = server.mails;
  expect(mail).toMatchObject({ from: 'payments@pay.example', to: [address], login: 'payments' });
  for (const part of [
    'Auto-Submitted: auto-generated',
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'shop',
    '2026-11-27 10:00 UTC',
    '1000 events',
    '3 events',
    'it did not answer in time',
    '2026-11-27 12:30 UTC',
    'https://console.example/applications/shop',
    'change no payment',
  ])
    expect(mail?.text).toContain(part);
  expect(await noticesNow()).toEqual([
    { result: 'sent', tries: 0, dueInMinutes: null, isClaimed: true },
  ]);

  const token = linkIn(mail?.text ?? '', '>');
  await addresses().unsubscribe(token);
  await insertNotice('digest');
  await round(mailerOf(server));
  expect(server.mails).toHaveLength(1);
});

it('asks a new address to agree, and sends it nothing else before it has', async () => {
  const server = await aMailServer();
  await addresses().insert('shop', address);
  await insertNotice('digest');
  await round(mailerOf(server));
  expect(server.mails).toHaveLength(1);
  const token = linkIn(server.mails[0]?.text ?? '', '/confirm');
  expect(await addresses().confirm('x'.repeat(43))).toBe(false);
  expect(await addresses().confirm(token)).toBe(true);
  await round(mailerOf(server));
  expect(server.mails).toHaveLength(2);
});

it('a reminder says since when the receiver is unwell, not since its own day', async () => {
  const server = await aMailServer();
  await aNotice();
  await records.sql`
    insert into receivers (application, test, state, since) values ('shop', false, 'failing', '2026-11-25T08:30:00Z')`;
  await insertNotice('digest');
  await round(mailerOf(server));
  const begun = server.mails.map(({ text }) => /since ([-\d]+ [\d:]+) UTC/.exec(text)?.[1]);
  expect(new Set(begun)).toEqual(new Set(['2026-11-25 08:30', '2026-11-27 10:00']));
});

describe('a mail server in trouble', () => {
  it('that refuses for now is tried three times within an hour, and then no more', async () => {
    const server = await aMailServer({ refuse: () => '451 4.7.1 later' });
    await aNotice();
    const first = await round(mailerOf(server));
    expect(first.counted).toEqual({ retried: 1 });
    expect(await noticesNow()).toMatchObject([{ result: null, tries: 1, dueInMinutes: 5 }]);
    await becomeDue();
    await round(mailerOf(server));
    expect(await noticesNow()).toMatchObject([{ result: null, tries: 2, dueInMinutes: 30 }]);
    await becomeDue();
    const last = await round(mailerOf(server));
    expect(last.counted).toEqual({ failed: 1 });
    expect(await noticesNow()).toMatchObject([{ result: 'failed', dueInMinutes: null }]);
  });

  it.each(['rcpt', 'data'] as const)(
    'that knows no such address, and says so at %s, is never tried again',
    async (place) => {
      const server = await aMailServer({
        refuse: (at) => (at === place ? '550 5.1.1 no such user' : undefined),
      });
      await aNotice();
      const { counted, text } = await round(mailerOf(server));
      expect(counted).toEqual({ refused: 1 });
      expect(text).toContain('"response_code":550,"status":"5.1.1","about":"recipient"');
      expect(text).not.toMatch(/hunter2|ops@shop/);
      expect(await noticesNow()).toMatchObject([{ result: 'refused', dueInMinutes: null }]);
    },
  );

  it('that does not take the sender says so at the recipient, and is tried again', async () => {
    const server = await aMailServer({ refuse: () => '550 5.1.8 Sender address rejected' });
    await aNotice();
    const { counted, text } = await round(mailerOf(server));
    expect(counted).toEqual({ retried: 1 });
    expect(text).toContain('"status":"5.1.8","about":"sender"');
    expect(text).not.toMatch(/hunter2|ops@shop/);
  });

  it('that speaks no TLS gets neither the login nor the mail', async () => {
    const server = await aMailServer({ tls: false });
    await aNotice();
    const { counted, text } = await round(mailerOf(server));
    expect([counted, server.mails]).toEqual([{ retried: 1 }, []]);
    expect(text).not.toMatch(/hunter2|ops@shop/);
    expect(await noticesNow()).toMatchObject([{ isClaimed: false }]);
  });

  it('that has a wrong certificate gets neither', async () => {
    const server = await aMailServer();
    await aNotice();
    const { port } = server;
    const mailer = createMailer({ host: '127.0.0.1', port, ...us }, { plain: false });
    expect((await round(mailer)).counted).toEqual({ retried: 1 });
    expect(server.mails).toEqual([]);
  });

  it('that takes another login leaks nothing, and is tried again: somebody mends the setting', async () => {
    const server = await aMailServer();
    await aNotice();
    const { counted, text } = await round(mailerOf(server, { password: 'wrong-secret' }));
    expect(counted).toEqual({ retried: 1 });
    expect(text).toContain('"code":"EAUTH","response_code":535');
    expect(text).not.toMatch(/wrong-secret|ops@shop/);
    await becomeDue();
    await round(mailerOf(server));
    expect(server.mails).toHaveLength(1);
  });

  it.each([
    ['refuses every connection', '554 no service here', 'never'],
    ['wants a login that nobody has given', '220 hello', '530 authentication required'],
    ['takes no mail of this sender', '220 hello', '550 unknown sender'],
  ])('that %s is tried again', async (_name, greeting, toSender) => {
    const { mailer } = await aRawServer((socket) => {
      socket.write(`${greeting}\r\n`);
      socket.on('data', (data) => {
        socket.write(data.toString().startsWith('MAIL') ? `${toSender}\r\n` : '250 ok\r\n');
      });
    });
    await aNotice();
    expect((await round(mailer)).counted).toEqual({ retried: 1 });
  });

  it('that is a black hole costs a try', async () => {
    // The mailer waits 5 s for the first line of a server, by a timer of its library.
    const { port } = await aRawServer(() => {});
    await aNotice();
    const { counted, text } = await round(mailerOf({ port }));
    expect(counted).toEqual({ retried: 1 });
    expect(text).toContain('ETIMEDOUT');
    expect(await noticesNow()).toMatchObject([{ isClaimed: false, dueInMinutes: 5 }]);
  });

  it('that never says whether it has taken the mail is not tried again', async () => {
    const { mailer } = await aRawServer((socket) => {
      socket.write('220 hello\r\n');
      socket.on('data', (data) => {
        const line = data.toString();
        if (line.startsWith('EHLO')) socket.write('250 hello\r\n');
        else if (/^(MAIL|RCPT)/.test(line)) socket.write('250 ok\r\n');
        else if (line.startsWith('DATA')) socket.write('354 go on\r\n');
        else socket.destroy();
      });
    });
    await aNotice();
    expect((await round(mailer)).counted).toEqual({ unknown: 1 });
    expect(await noticesNow()).toMatchObject([{ result: 'unknown', dueInMinutes: null }]);
  });

  it('does not fill the table, and what is too old is given up', async () => {
    await aNotice();
    await records.sql`update notices set created_at = now() - interval '61 minutes'`;
    const { counted } = await round(mailerOf({ port: 1 }));
    expect(counted).toEqual({ failed: 1 });
    expect(await noticesNow()).toHaveLength(1);
  });
});

describe('a worker that is killed', () => {
  /** A mailer that ends with the process before or after the server has the mail. */
  const killedMailer = (mailer: Mailer, when: 'before' | 'after'): Mailer => ({
    async send(mail, { claim, signal }) {
      if (when === 'before') await claim();
      else await mailer.send(mail, { claim, signal });
      throw new Error('killed');
    },
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('%s the mail is there sends it at most once', async (when, mails) => {
    const server = await aMailServer();
    await aNotice();
    await round(killedMailer(mailerOf(server), when));
    await round(mailerOf(server));
    await records.sql`update notices set claimed_at = now() - interval '2 minutes'`;
    const { counted } = await round(mailerOf(server));
    expect(counted).toEqual({ unknown: 1 });
    await round(mailerOf(server));
    expect(server.mails).toHaveLength(mails);
    expect(await noticesNow()).toMatchObject([{ result: 'unknown', dueInMinutes: null }]);
  });

  it('before it has the claim leaves the notice to the next one', async () => {
    const server = await aMailServer();
    await aNotice();
    await round({ send: () => Promise.reject(new Error('killed')) });
    await round(mailerOf(server));
    expect(server.mails).toHaveLength(1);
  });
});

it('two workers at once send one mail', async () => {
  const server = await aMailServer();
  await aNotice();
  await Promise.all([round(mailerOf(server)), round(mailerOf(server))]);
  expect(server.mails).toHaveLength(1);
});

it('writes nothing and ends nothing without a mail server', async () => {
  await aNotice();
  const { error, counted } = await round(undefined);
  expect([error, counted]).toEqual([expect.objectContaining({ type: 'NoticesSent' }), {}]);
  expect(await noticesNow()).toMatchObject([{ result: null, tries: 0, isClaimed: false }]);
});
