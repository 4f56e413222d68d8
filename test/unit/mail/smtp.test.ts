import dns from 'node:dns';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMailer } from '../../../mail/smtp.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';

const mail = { to: 'ops@shop.example', subject: 'Subject', text: 'Text', headers: { X: 'a' } };
const publicBaseUrl = 'https://pay.example';
const attempt = { claim: async () => false, signal: AbortSignal.abort() };
const send = (more: object, from = 'payments@pay.example') =>
  createMailer({ host: 'localhost', port: 1, from, publicBaseUrl }).send(
    { ...mail, ...more },
    attempt,
  );

it.each(['\r\n', '\n', '\r', '\u2028', 'é'])(
  'refuses %j in every line of a head',
  async (ending) => {
    const bad = `a${ending}Bcc: all@shop.example`;
    for (const field of [{ to: bad }, { subject: bad }, { headers: { X: bad } }])
      await expect(send(field)).rejects.toThrow('one of ASCII');
    await expect(send({}, bad)).rejects.toThrow('one of ASCII');
  },
);

it('ends a try whose time is over before it began', async () => {
  await expect(send({})).resolves.toMatchObject({ result: 'again', code: 'ETIMEDOUT' });
});

it.each(['localhost', 'LOCALHOST', 'localhost.', 'mail.localhost'])(
  'asks no name server where %s is',
  async (host) => {
    const login = { user: 'payments', password: 'hunter2' };
    const server = await startMailServer({ ...login, tls: false });
    onTestFinished(server.stop);
    const asked = vi.fn<() => never>(() => {
      throw new Error('A name server was asked');
    });
    for (const name of ['resolve4', 'resolve6'] as const)
      vi.spyOn(dns.Resolver.prototype, name).mockImplementation(asked);
    vi.spyOn(dns, 'lookup').mockImplementation(asked);
    onTestFinished(() => void vi.restoreAllMocks());
    const { send: sendTo } = createMailer({
      ...{ ...login, host, port: server.port, from: 'payments@pay.example', publicBaseUrl },
    });
    const now = { claim: async () => true, signal: new AbortController().signal };
    expect(await sendTo(mail, now)).toEqual({ result: 'sent' });
    expect([asked.mock.calls, server.mails.length]).toEqual([[], 1]);
  },
);
