import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startMailbox } from '../../../demo/mailbox.ts';
import { createMailer } from '../../../mail/smtp.ts';
import { freePort } from '../../../stack/ports.ts';

it('keeps the mail of a sender, and none that a form of a web page sends', async () => {
  const port = await freePort();
  const mailbox = await startMailbox(port);
  onTestFinished(mailbox.close);
  const mail = ['EHLO a', 'MAIL FROM:<a@b>', 'RCPT TO:<ops@shop.example>', 'DATA', 'Click', '.'];
  for (const head of [
    ['POST / HTTP/1.1', 'Host: 127.0.0.1', ''],
    ['EHLO a', 'GET / HTTP/1.1'],
  ]) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.end([...head, ...mail, ''].join('\r\n')).resume();
    await once(socket, 'close');
  }
  expect(mailbox.mails()).toEqual([]);
  const { send } = createMailer({
    host: '127.0.0.1',
    port,
    from: 'payments@localhost',
    publicBaseUrl: 'http://localhost:3000',
  });
  const now = { claim: async () => true, signal: new AbortController().signal };
  const sent = { to: 'ops@shop.example', subject: 'Down', text: 'Text', headers: {} };
  expect(await send(sent, now)).toEqual({ result: 'sent' });
  expect(mailbox.mails()).toMatchObject([{ to: 'ops@shop.example', subject: 'Down' }]);
});
