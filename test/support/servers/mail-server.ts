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

const refusal = (reply: string | undefined) =>
  reply === undefined
    ? null
    : Object.assign(new Error(`${reply.slice(4)}, hunter2 of ops@shop.example`), {
        responseCode: Number(reply.slice(0, 3)),
      });

interface Options {
  user: string;
  password: string;
  /** The reply with which it refuses a recipient, or a mail that it has read; undefined: it takes it. */
  refuse?: (at: 'rcpt' | 'data') => string | undefined;
  /** False: it speaks no TLS, and takes a login without. */
  tls?: boolean;
}

/** A mail server on the loopback interface that begins TLS when it is asked to, and wants a login. */
export const startMailServer = async ({
  user,
  password,
  refuse = () => undefined,
  tls = true,
}: Options) => {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    key: selfSigned.key,
    cert: selfSigned.cert,
    disableReverseLookup: true,
    ...(tls ? {} : { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.username === user && auth.password === password
        ? done(null, { user })
        : done(new Error('wrong login')),
    onRcptTo: (_address, _session, done) => done(refusal(refuse('rcpt'))),
    onData: (stream, { envelope, user: login }, done) => {
      text(stream).then(
        (content) => {
          const refused = refusal(refuse('data'));
          if (refused) return done(refused);
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
