import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { isLocalhost } from '../contract/localhost.ts';
import { readRefusal, type RefusalAbout } from './refusal.ts';

export interface MailServer {
  host: string;
  /** 465 speaks TLS from the start; at any other port the connection is upgraded. */
  port: number;
  user?: string | undefined;
  password?: string | undefined;
  from: string;
  /** Where the service is reached: a mail server may look the name up with which a client greets it. */
  publicBaseUrl: string;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * The ends of a try. `again`: the server has no mail, and may take it later. `refused`: the address takes none. `unknown`: the
 * server may have the mail. `not_claimed`: somebody else sends it.
 */
export type TryEnd =
  | { result: 'sent' | 'not_claimed' }
  | {
      result: 'again' | 'refused' | 'unknown';
      /** The library's. */
      code: string;
      /** Of a refusal; null if the server refused nothing. */
      responseCode: number | null;
      /** The enhanced status, like 5.7.1. */
      status: string | null;
      about: RefusalAbout | null;
    };

export interface Try {
  /** Called when the server has taken the login, before it is told of the mail. False: the mail is not sent. */
  claim: () => Promise<boolean>;
  /** Ends the try. */
  signal: AbortSignal;
}

/** The library waits for minutes by default. */
const timeouts = {
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  dnsTimeout: 5_000,
  socketTimeout: 10_000,
  socketCloseTimeout: 1_000,
};

/**
 * The name for EHLO: a full one, or an address in brackets (RFC 5321 4.1.4). Servers refuse others, and the name of a container.
 * @returns undefined for the library's own
 */
const nameOf = (publicBaseUrl: string): string | undefined => {
  const { hostname } = new URL(publicBaseUrl);
  if (isIP(hostname) === 4) return `[${hostname}]`;
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1)}`;
  const name = hostname.replace(/\.$/, '');
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) ? name : undefined;
};

const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/**
 * Sends plain texts, one address a mail.
 * @param options.tls for servers whose certificate needs an authority of its own
 */
export const createMailer = (
  { host, port, user, password, from, publicBaseUrl }: MailServer,
  {
    tls,
    plain = isLocalhost(host) || loopback.test(host),
  }: { tls?: { ca: string }; plain?: boolean } = {},
) => {
  const secure = port === 465;
  const options = {
    // The library asks name servers before the system, and a login in the clear would go wherever they say.
    ...(isLocalhost(host) ? { host: '127.0.0.1', servername: host } : { host }),
    port,
    secure,
    name: nameOf(publicBaseUrl),
    // A server on this machine needs no TLS. To any other the login would go in the clear.
    ...(plain ? { ignoreTLS: true } : { requireTLS: !secure }),
    ...(tls && { tls }),
    ...timeouts,
    logger: false,
    // A server may answer with anything.
    maxResponseSize: 64 * 1024,
  };

  return {
    async send(mail: Mail, { claim, signal }: Try): Promise<TryEnd> {
      const message = await compose(from, mail);
      const connection = new SMTPConnection(options);
      const { promise: broken, reject } = Promise.withResolvers<never>();
      broken.catch(() => {}); // A step reports it.
      connection.on('error', reject);
      const abort = () => reject(Object.assign(new Error('Too slow'), { code: 'ETIMEDOUT' }));
      signal.addEventListener('abort', abort, { once: true });
      const step = (start: (done: (error?: Error | null) => void) => void): Promise<unknown> =>
        Promise.race([
          broken,
          new Promise<void>((resolve, fail) => {
            start((error) => (error ? fail(error) : resolve()));
          }),
        ]);
      // The library reads a stream once the server has accepted DATA, so this is where a mail begins to exist there.
      let begun = false;
      const content = Readable.from(
        (function* () {
          begun = true;
          yield message;
        })(),
      );
      try {
        if (signal.aborted) abort();
        await step((done) => connection.connect(done));
        if (user !== undefined)
          await step((done) =>
            connection.login({ credentials: { user, pass: password ?? '' } }, done),
          );
        if (!(await claim())) return { result: 'not_claimed' };
        await step((done) => connection.send({ from, to: [mail.to] }, content, done));
        return { result: 'sent' };
      } catch (error) {
        return endOf(error, begun);
      } finally {
        signal.removeEventListener('abort', abort);
        connection.close();
        content.destroy();
      }
    },
  };
};
export type Mailer = ReturnType<typeof createMailer>;

/** The error's text is the server's, and may hold the address or the password. @param begun the server may have the mail */
const endOf = (error: unknown, begun: boolean): TryEnd => {
  const { code, responseCode, command, response } = error as Record<string, unknown>;
  const named = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : 'UNKNOWN';
  // An answer of another class than 4 and 5 refuses nothing.
  if (typeof responseCode !== 'number' || responseCode < 400 || responseCode > 599)
    return {
      ...{ result: begun ? 'unknown' : 'again', code: named },
      ...{ responseCode: null, status: null, about: null },
    };
  const { about, status, isFinal } = readRefusal(String(command), responseCode, String(response));
  return { result: isFinal ? 'refused' : 'again', code: named, responseCode, status, about };
};

/** @throws if a line of the head could end before its end */
const compose = (from: string, { to, subject, text, headers }: Mail): Promise<Buffer> => {
  for (const line of [from, to, subject, ...Object.values(headers)])
    if (/[^ -~]/.test(line)) throw new Error('A line of a mail is one of ASCII');
  return new MailComposer({
    from,
    to,
    subject,
    text,
    headers: Object.entries(headers).map(([key, value]) => ({
      key,
      // An address of a page must not be broken.
      value: { prepared: true, value },
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
};
