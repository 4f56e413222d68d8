import { expect, it } from 'vitest';
import { createMailer } from '../../../mail/smtp.ts';

const mail = { to: 'ops@shop.example', subject: 'Subject', text: 'Text', headers: { X: 'a' } };
const attempt = { claim: async () => false, signal: AbortSignal.abort() };
const send = (more: object, from = 'payments@pay.example') =>
  createMailer({ host: 'localhost', port: 1, from }).send({ ...mail, ...more }, attempt);

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
