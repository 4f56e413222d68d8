import { SignatureError } from './errors.ts';
import type { Event } from './types.ts';

export { SignatureError, type SignatureProblem } from './errors.ts';
export { isKnownEvent, type KnownEvent } from './known-event.ts';
export type { Event } from './types.ts';

export interface Webhook {
  /** The body as it arrived, before any JSON parsing. */
  body: Uint8Array | ArrayBuffer | string;
  /** The value of the header `X-Service-Signature`. */
  signature: string | readonly string[] | null | undefined;
  /** The whole secret, `whsec_` included. Several while one replaces another. */
  secret: string | readonly string[];
  /** Now by default. */
  receivedAt?: Date;
}

/** The clocks of the service and of the receiver may differ by this much, in either direction. */
const toleranceSeconds = 300;
const maxSignatures = 10;
/** An event is smaller by far. */
const maxBodyBytes = 64 * 1024;
const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** A `Request` of the web, or one of Node: that of `node:http` and Express, or `ctx.req` of Koa. */
export type IncomingRequest =
  | Pick<Request, 'body' | 'bodyUsed' | 'headers'>
  | (AsyncIterable<Uint8Array> & {
      headers: Record<string, string | string[] | undefined>;
      readableDidRead?: boolean;
    });

/**
 * Reads the body, up to 64 KB whatever the request announces, and the header of the signature: the rest of what
 * `verify` needs is the secret.
 * @throws SignatureError
 */
export const readRequest = async (
  request: IncomingRequest,
): Promise<{ body: Uint8Array; signature: Webhook['signature'] }> => {
  const isWeb = 'bodyUsed' in request;
  if (isWeb ? request.bodyUsed : request.readableDidRead)
    throw new SignatureError(
      'body',
      'The body was read before: call readRequest before a parser, or give verify the bytes that it kept.',
    );
  // The types of some environments do not know that such a stream can be iterated.
  const body = (isWeb ? request.body : request) as AsyncIterable<Uint8Array> | null;
  const name = 'x-service-signature';
  return {
    body: await readAll(body),
    signature: isWeb ? request.headers.get(name) : request.headers[name],
  };
};

/**
 * Fails as soon as the body is too long, so that the answer goes out, and drops what still comes: a sender that is
 * cut off would not see the answer.
 */
const readAll = (body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const read = async () => {
      const bytes = new Uint8Array(maxBodyBytes);
      let length = 0;
      for await (const chunk of body ?? []) {
        if (length + chunk.length <= maxBodyBytes) bytes.set(chunk, length);
        else reject(new SignatureError('size', 'The body is larger than 64 KB.'));
        length += chunk.length;
      }
      resolve(bytes.subarray(0, length));
    };
    read().catch(reject);
  });

/**
 * Checks that the payment service has sent exactly this body, just now, and returns its event.
 * @throws SignatureError
 */
export const verify = async ({
  body,
  signature,
  secret,
  receivedAt = new Date(),
}: Webhook): Promise<Event> => {
  // The header first: a request that nobody signed is no mistake of the receiver, whatever its body.
  const { timestamp, signatures } = parseHeader(signature);
  const bytes = bytesOf(body);
  const keys = await Promise.all([secret].flat().map((each) => keyOf(each, 'verify')));
  if (keys.length === 0) throw new SignatureError('secret', 'No webhook secret was given.');

  const seconds = Math.floor(receivedAt.getTime() / 1000) - Number(timestamp);
  if (!(Math.abs(seconds) <= toleranceSeconds))
    throw new SignatureError(
      'time',
      `The webhook was signed ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ago' : 'in the future'}; ` +
        `${toleranceSeconds} are allowed. Is the clock of this machine right? Is it an old request, sent again?`,
    );

  const message = messageOf(timestamp, bytes);
  let isGenuine = false;
  // Every pair is compared, and each in constant time, so the time taken says nothing about the digest.
  for (const key of keys)
    for (const digest of signatures)
      if (await crypto.subtle.verify('HMAC', key, digest, message)) isGenuine = true;
  if (!isGenuine)
    throw new SignatureError(
      'mismatch',
      'No signature matches the body and the secret. Is it the secret of this application, whole, with whsec_? ' +
        'Is the body the bytes that arrived? JSON that was parsed and written again has other bytes.',
    );
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Event;
  } catch {
    throw new SignatureError('body', 'The body is signed, and it is not JSON.');
  }
};

/** Signs a body as the service does. For tests of a receiver. */
export const sign = async ({
  body,
  secret,
  timestamp = Math.floor(Date.now() / 1000),
}: Pick<Webhook, 'body' | 'secret'> & { timestamp?: number }): Promise<string> => {
  const message = messageOf(timestamp, bytesOf(body));
  const digests = await Promise.all(
    [secret].flat().map(async (each) => {
      const key = await keyOf(each, 'sign');
      const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, message));
      return `v1=${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    }),
  );
  return [`t=${timestamp}`, ...digests].join(',');
};

const bytesOf = (body: unknown): Uint8Array => {
  if (typeof body === 'string') return encode(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  // Not instanceof: test runners and workers have several realms.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]')
    return new Uint8Array(body as ArrayBuffer);
  throw new SignatureError(
    'body',
    'The body must be the raw bytes or text of the request, and not a parsed object: read it before a JSON ' +
      'parser does (in Express: express.raw; in Next: await request.arrayBuffer()).',
  );
};

const keyOf = (secret: unknown, use: 'sign' | 'verify') => {
  if (typeof secret !== 'string' || secret === '')
    throw new SignatureError('secret', 'The webhook secret is empty: is its setting missing?');
  if (/\s/.test(secret))
    throw new SignatureError(
      'secret',
      'The webhook secret has white space in it, such as a line end from a file: remove it.',
    );
  return crypto.subtle.importKey('raw', encode(secret), algorithm, false, [use]);
};

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; parts of other schemes are ignored. */
const parseHeader = (given: Webhook['signature']) => {
  const header = [given ?? ''].flat().join(',');
  if (header === '')
    throw new SignatureError('missing', 'The request has no header X-Service-Signature.');
  // A proxy, or the join of two headers, may put spaces after the commas.
  const parts = header.split(',').map((part) => part.trim());
  const valuesOf = (name: string) =>
    parts.flatMap((part) => (part.startsWith(name) ? part.slice(name.length) : []));
  const [timestamp = '', second] = valuesOf('t=');
  const signatures = valuesOf('v1=')
    .filter((text) => /^[0-9a-f]{64}$/.test(text))
    .slice(0, maxSignatures)
    .map(fromHex);
  if (!/^\d{1,12}$/.test(timestamp) || second !== undefined || signatures.length === 0)
    throw new SignatureError(
      'malformed',
      'The header X-Service-Signature is not t=<unix seconds>,v1=<64 hex digits>.',
    );
  return { timestamp, signatures };
};

const encode = (text: string) => new TextEncoder().encode(text);

/** `<t>.<body>`, which is what the service signs. */
const messageOf = (timestamp: string | number, body: Uint8Array) => {
  const start = encode(`${timestamp}.`);
  const bytes = new Uint8Array(start.length + body.length);
  bytes.set(start);
  bytes.set(body, start.length);
  return bytes;
};

const fromHex = (text: string) =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
