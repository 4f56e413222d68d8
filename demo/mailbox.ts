import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { html } from 'hono/html';
import type { Html } from './layout.ts';
import { formatTime } from './order-page.ts';

export interface Mail {
  at: Date;
  to: string;
  subject: string;
  text: string;
}

const mailsMax = 50;
const mailBytesMax = 64 * 1024;

/**
 * Takes mails as a mail server does, so that the whole way of a notice runs on this machine. The newest mails stay in memory,
 * and nothing is sent on.
 */
export const startMailbox = async (port: number) => {
  const mails: Mail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    converse(socket, (mail) => {
      mails.unshift(mail);
      mails.splice(mailsMax);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    mails: (): readonly Mail[] => mails,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

/** The beginnings of RFC 5321's commands. Everything else is another protocol, for instance a form of a web page. */
const commands = new Set(['EHLO', 'HELO', 'MAIL', 'RCPT', 'DATA', 'RSET', 'NOOP', 'QUIT', 'VRFY']);

/** The commands that a sender needs, without TLS and login. */
const converse = (socket: Socket, keep: (mail: Mail) => void): void => {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let received = '';
  let to = '';
  let inData = false;
  say('220 the mailbox of the demo');
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    if (received.length > mailBytesMax) return socket.destroy();
    for (;;) {
      const end = received.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = received.slice(0, end);
      received = received.slice(end + (inData ? 5 : 2));
      if (inData) {
        keep({ at: new Date(), to, ...readMail(part) });
        inData = false;
        say('250 kept');
        continue;
      }
      const command = part.slice(0, 4).toUpperCase();
      if (!commands.has(command)) return socket.destroy();
      if (command === 'RCPT') to = /<([^<>]*)>/.exec(part)?.[1] ?? '';
      if (command === 'DATA') inData = true;
      if (command === 'DATA') say('354 go on');
      else if (command === 'QUIT') socket.end('221 bye\r\n');
      else say('250 ok');
    }
  });
};

/** @param content with the dots that SMTP adds at the beginning of lines */
const readMail = (content: string): Pick<Mail, 'subject' | 'text'> => {
  const whole = content.replaceAll('\r\n.', '\r\n');
  const end = whole.indexOf('\r\n\r\n');
  const head = whole.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  const body = whole.slice(end + 4);
  const isQuoted = /^content-transfer-encoding: *quoted-printable/im.test(head);
  return {
    subject: /^subject: *(.*)$/im.exec(head)?.[1]?.trim() ?? '',
    text: (isQuoted ? unquote(body) : body).replaceAll('\r\n', '\n'),
  };
};

const unquote = (body: string): string =>
  body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

export const mailboxPage = (mails: readonly Mail[]): Html =>
  html`<h1>Mailbox</h1>
    <p class="lead">
      What the service would have sent to the people of an application. Nothing leaves this machine, and a restart
      empties the mailbox. “A mail by hand” in docs/first-payment.md has the commands for a receiver that fails.
    </p>
    ${
      mails.length === 0
        ? html`<div class="card">
            <p>There is no mail yet. Have the shop’s people told when its receiver fails:</p>
            <pre>npm run admin -- notices add demo-shop ops@shop.example</pre>
            <p class="last soft">The mail with the link comes within half a minute. Reload this page then.</p>
          </div>`
        : mails.map(
            ({ at, to, subject, text }) =>
              html`<section class="card mail">
                <div class="titled"><h2>${subject}</h2></div>
                <p class="soft">To ${to}, ${formatTime(at)}</p>
                <pre>${withLinks(text)}</pre>
              </section>`,
          )
    }`;

/** Every other part of the split is an address. */
const withLinks = (text: string): Html[] =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`));
