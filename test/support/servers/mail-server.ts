import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { selfSigned } from './self-signed.ts';

export interface Mail {
  from: string;
  to: string[];
  login: string | undefined;
  /** Headers and body. Lines that were too long for a mail are whole again. */
  text: string;
}

/** A mail server on the loopback interface that begins TLS when it is asked to, and wants a login. */
export const startMailServer = async ({ user, password }: { user: string; password: string }) => {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    key: selfSigned.key,
    cert: selfSigned.cert,
    disableReverseLookup: true,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.username === user && auth.password === password
        ? done(null, { user })
        : done(new Error('wrong login')),
    onData: (stream, { envelope, user: login }, done) => {
      text(stream).then(
        (content) => {
          mails.push({
            from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
            to: envelope.rcptTo.map(({ address }) => address),
            login: login as string | undefined,
            text: content.replaceAll('=\r\n', ''),
          });
          done();
        },
        (error: Error) => done(error),
      );
    },
  });
  // A client that breaks off.
  server.on('error', () => {});
  const inner = server.listen(0, '127.0.0.1');
  if (!inner.listening) await once(inner, 'listening');
  return {
    mails,
    port: (inner.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(resolve);
      }),
  };
};
