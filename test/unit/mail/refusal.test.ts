import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createMailer, type TryEnd } from '../../../mail/smtp.ts';
import { listenForTest } from '../../support/servers/listen.ts';

/** The steps of the dialogue, and how the server hears that it is there. */
const steps = {
  connect: null,
  EHLO: /^EHLO/,
  HELO: /^(EHLO|HELO)/,
  STARTTLS: /^STARTTLS/,
  AUTH: /^AUTH/,
  MAIL: /^MAIL/,
  RCPT: /^RCPT/,
  DATA: /^DATA/,
  'end of data': /\r\n\.\r\n$/,
} as const;
type Step = keyof typeof steps;
const beforeMail: Step[] = ['connect', 'EHLO', 'HELO', 'STARTTLS', 'AUTH'];
const ofMail: Step[] = ['MAIL', 'RCPT', 'DATA', 'end of data'];

const usual = (line: string): string => {
  if (line.startsWith('EHLO')) return '250-hello\r\n250-STARTTLS\r\n250 AUTH PLAIN';
  if (line.startsWith('AUTH')) return '235 welcome';
  return line.startsWith('DATA') ? '354 go on' : '250 ok';
};

/** Sends a mail to a server that gives this reply at this step. */
const sendTo = async (step: Step, reply: string, publicBaseUrl = 'https://pay.example') => {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (step === 'connect') return void socket.end(`${reply}\r\n`);
    socket.write('220 hello\r\n');
    let content: string | undefined;
    socket.on('data', (data) => {
      for (const line of data.toString().split(/(?<=\r\n)/)) {
        if (content !== undefined) content += line;
        if (content !== undefined && !content.endsWith('\r\n.\r\n')) continue;
        const heard = content ?? line;
        content = undefined;
        lines.push(line.trim());
        const answer = steps[step]?.test(heard) ? reply : usual(heard);
        if (heard.startsWith('DATA') && answer.startsWith('3')) content = '\r\n';
        socket.write(`${answer}\r\n`);
      }
    });
  });
  const port = await listenForTest(server);
  const { send } = createMailer(
    {
      ...{ host: '127.0.0.1', port, from: 'payments@pay.example', publicBaseUrl },
      ...{ user: 'payments', password: 'hunter2' },
    },
    { plain: step !== 'STARTTLS' && step !== 'EHLO' },
  );
  const end = await send(
    { to: 'ops@shop.example', subject: 'Subject', text: 'Text', headers: {} },
    { claim: async () => true, signal: new AbortController().signal },
  );
  return { end, lines };
};

const short = (end: TryEnd): string =>
  'about' in end ? `${end.result}, ${String(end.about)}` : end.result;

/** Each refusal, in rows of the same end. */
const endsAt = async (step: Step, replies: readonly string[]) => {
  const ends: Record<string, string[]> = {};
  for (const reply of replies) {
    const { end } = await sendTo(step, reply);
    (ends[short(end)] ??= []).push(reply);
  }
  return ends;
};

/** RFC 5321, with 432, 454, 530, 534, 535 and 538 of RFC 4954, 455 and 555 of RFC 5321 for parameters, 521 and 556 of RFC 7504. */
const temporary = ['421', '432', '450', '451', '452', '454', '455'];
const login = ['530', '534', '535', '538'];
const permanent = [
  ...['500', '501', '502', '503', '504', '521', '550', '551', '552', '553', '554', '555'],
];

describe('a code without a status', () => {
  it.each([
    ['connect', 'host'],
    ['EHLO', 'host'],
    ['HELO', 'host'],
    ['STARTTLS', 'server'],
    ['AUTH', 'login'],
  ] as const)('at %s is about the server or the %s, and tried again', async (step, about) => {
    const all = [...permanent, '556'];
    const server = about === 'server' ? [...temporary, ...all] : temporary;
    const expected: Record<string, string[]> = { 'again, server': server };
    if (about === 'login') expected['again, login'] = [...all, ...login].toSorted();
    else expected['again, login'] = login;
    if (about === 'host') expected['again, host'] = all;
    const ends = await endsAt(step, [...temporary, ...permanent, ...login, '556']);
    expect(Object.fromEntries(Object.entries(ends).map(([k, v]) => [k, v.toSorted()]))).toEqual(
      expected,
    );
  });

  it.each([
    ['MAIL', 'sender'],
    ['RCPT', 'unclear'],
    ['DATA', 'content'],
    ['end of data', 'content'],
  ] as const)('at %s is %s, and tried again', async (step, about) => {
    expect(await endsAt(step, [...temporary, ...permanent, ...login])).toEqual({
      [`again, ${about}`]: [...temporary, ...permanent],
      'again, login': login,
    });
  });

  it.each([
    ['MAIL', 'again, sender'],
    ['RCPT', 'refused, recipient'],
    ['DATA', 'refused, recipient'],
    ['end of data', 'refused, recipient'],
  ] as const)('at %s, 556: %s', async (step, end) => {
    expect(await endsAt(step, ['556'])).toEqual({ [end]: ['556'] });
  });
});

/** Every status of RFC 3463 and of the registry after it (RFC 5248), by what it is about at RCPT. */
const statuses = {
  recipient: ['1.1', '1.2', '1.3', '1.4', '1.6', '1.10', '2.1'],
  mailbox: ['2.0', '2.2', '2.3', '2.4'],
  sender: [...['1.7', '1.8', '7.20', '7.21', '7.22', '7.23', '7.24', '7.26', '7.27']],
  host: ['7.25'],
  login: ['7.8', '7.9', '7.11', '7.12', '7.13'],
  policy: [
    ...['7.0', '7.1', '7.2', '7.3', '7.4', '7.5', '7.6', '7.7', '7.10', '7.14', '7.15', '7.16'],
    ...['7.17', '7.18', '7.19', '7.28', '7.29', '7.30', '7.999'],
  ],
  content: ['6.0', '6.1', '6.2', '6.3', '6.4', '6.5', '6.6', '6.7', '6.8', '6.9', '6.10'],
  server: [
    ...['3.0', '3.1', '3.2', '3.3', '3.4', '3.5', '3.6'],
    ...['4.0', '4.1', '4.2', '4.3', '4.4', '4.5', '4.6', '4.7'],
  ],
  /** The address of the sender or of the recipient, and the commands. Exchange has 1.20 and 1.90, about the sender's side. */
  unclear: [
    ...['0.0', '1.0', '1.5', '1.9', '1.20', '1.90'],
    ...['5.0', '5.1', '5.2', '5.3', '5.4', '5.5', '5.6'],
  ],
};

describe('a status', () => {
  const rows = Object.entries(statuses);

  it.each(rows)('about %s decides at RCPT', async (about, list) => {
    const result = about === 'recipient' ? 'refused' : 'again';
    const permanently = list.map((status) => `550 5.${status} no`);
    expect(await endsAt('RCPT', permanently)).toEqual({ [`${result}, ${about}`]: permanently });
    const forNow = list.map((status) => `450 4.${status} no`);
    expect(await endsAt('RCPT', forNow)).toEqual({ [`again, ${about}`]: forNow });
  });

  it.each(rows)('about %s decides at DATA and after the mail', async (about, list) => {
    const result = about === 'recipient' ? 'refused' : 'again';
    const named = about === 'unclear' ? 'content' : about;
    const replies = list.map((status) => `554 5.${status} no`);
    for (const step of ['DATA', 'end of data'] as const)
      expect(await endsAt(step, replies)).toEqual({ [`${result}, ${named}`]: replies });
  });

  it.each(rows)('about %s is never about the recipient at MAIL', async (about, list) => {
    const named = ['recipient', 'mailbox', 'unclear'].includes(about) ? 'sender' : about;
    const replies = list.map((status) => `550 5.${status} no`);
    expect(await endsAt('MAIL', replies)).toEqual({ [`again, ${named}`]: replies });
  });

  it.each(beforeMail)('at %s refuses nobody', async (step) => {
    const replies = Object.values(statuses).flatMap((list) => list.map((s) => `554 5.${s} no`));
    const ends = await endsAt(step, replies);
    expect(Object.keys(ends)).toHaveLength(1);
    expect(Object.keys(ends)[0]).toMatch(/^again, (host|server|login)$/);
  });

  it.each([
    ['550-5.1.1 no such user\r\n550 5.1.1 see the page', 'refused, recipient', '5.1.1'],
    ['550 5.1.1', 'refused, recipient', '5.1.1'],
    ['550 4.1.1 of another class', 'again, unclear', null],
    ['550 5.1.1x is no status', 'again, unclear', null],
    ['550 5.1.1.1 is no status', 'again, unclear', null],
    ['550 15.1.1 is no status', 'again, unclear', null],
    ['550 <ops@shop.example>: 5.1.1 later in the text', 'again, unclear', null],
    ['550 no such user here', 'again, unclear', null],
    ['553 5.7.1 Sender address rejected: not owned by user', 'again, policy', '5.7.1'],
    ['504 5.5.2 Helo command rejected: need fully-qualified hostname', 'again, unclear', '5.5.2'],
    ['554 5.7.1 Relay access denied', 'again, policy', '5.7.1'],
    ['552 5.2.2 mailbox full', 'again, mailbox', '5.2.2'],
    ['450 4.2.0 greylisted', 'again, mailbox', '4.2.0'],
  ])('of %j: %s', async (reply, expected, status) => {
    const { end } = await sendTo('RCPT', reply);
    expect([short(end), 'status' in end && end.status]).toEqual([expected, status]);
  });
});

it.each(ofMail)('an answer of no class at %s refuses nothing', async (step) => {
  const ends = await endsAt(step, ['650 5.1.1 no', '150 5.1.1 no', 'no 5.1.1']);
  expect(Object.keys(ends)).toEqual([step === 'end of data' ? 'unknown, null' : 'again, null']);
});

describe('the name of EHLO', () => {
  it.each([
    ['https://pay.example', 'pay.example'],
    ['https://Pay.Example.:8443/base', 'pay.example'],
    ['https://پرداخت.example', 'xn--mgbglcj57b.example'],
    ['http://203.0.113.7:3000', '[203.0.113.7]'],
    ['http://[2001:db8::7]:3000', '[IPv6:2001:db8::7]'],
  ])('of %s is %s', async (publicBaseUrl, name) => {
    const { lines, end } = await sendTo('HELO', '504 5.5.2 no', publicBaseUrl);
    expect([lines, short(end)]).toEqual([[`EHLO ${name}`, `HELO ${name}`], 'again, host']);
  });

  it.each(['http://localhost:3000', 'http://api:3000', 'https://pay_1.example'])(
    'is the one of this machine if %s has none that servers take',
    async (publicBaseUrl) => {
      const { lines } = await sendTo('HELO', '504 no', publicBaseUrl);
      expect(lines[0]).toMatch(/^EHLO (\[[\d.]+\]|[\w-]+(\.[\w-]+)+)$/);
      expect(lines[0]).not.toContain('pay_1');
    },
  );
});
