import type { IncomingMessage, ServerResponse } from 'node:http';
import { PaymentError } from '../../contract/errors.ts';
import type { JsonNode } from '../../contract/json.ts';
import { JsonError, nothing, parseJson } from '../../contract/json.ts';
import { limits } from '../../contract/limits.ts';

const maxBytes = limits.requestBodyKb * 1024;
const firstBufferBytes = 1024;

/** Leaves out a byte order mark, which some languages write before every text. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const empty = Buffer.alloc(0);

/** The connection ended before the body did. */
class BodyCut extends Error {}
class BodyTooLarge extends Error {}

/** The bodies of requests that are not answered yet. */
const bodies = new WeakMap<IncomingMessage, Promise<Buffer>>();

/**
 * Collects the body in one buffer from its first byte on, before a handler reads it, and drops it once
 * the response is sent.
 *
 * Not raw-body, and not Node's own buffering: both keep the pieces, and the sender chooses their size. Ten
 * bodies of 64 KB in pieces of one byte take 131 MB with raw-body, and less than 1 MB in one buffer each.
 */
export const bufferBody = (req: IncomingMessage, res: ServerResponse): void => {
  if (!('content-length' in req.headers) && !('transfer-encoding' in req.headers)) return;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  promise.catch(() => {}); // Some handlers never read the body.
  bodies.set(req, promise);

  let buffer: Buffer = empty;
  let length = 0;
  const collect = (piece: Buffer) => {
    const needed = length + piece.length;
    if (needed > maxBytes) return discard(new BodyTooLarge());
    if (needed > buffer.length) buffer = enlarged(buffer, needed);
    piece.copy(buffer, length);
    length = needed;
  };
  /** Reads the rest of the body without keeping it: the connection may carry another request. */
  const discard = (reason: Error) => {
    req.off('data', collect).resume();
    buffer = empty;
    length = 0;
    reject(reason);
  };
  req.on('data', collect);
  req.once('end', () => resolve(buffer.subarray(0, length)));
  req.once('close', () => reject(new BodyCut()));
  res.once('finish', () => {
    discard(new Error('The response was sent'));
    bodies.delete(req);
  });
};

const enlarged = (buffer: Buffer, needed: number): Buffer => {
  const size = Math.max(firstBufferBytes, buffer.length * 2, needed);
  const larger = Buffer.allocUnsafe(Math.min(size, maxBytes));
  buffer.copy(larger);
  return larger;
};

/** The bytes as sent. @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
export const readBytes = async (req: IncomingMessage): Promise<Buffer> => {
  if (isCompressed(req))
    throw new PaymentError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.');
  const announced = Number(req.headers['content-length'] ?? 0);
  try {
    if (announced > maxBytes) throw new BodyTooLarge();
    return await (bodies.get(req) ?? empty);
  } catch (error) {
    if (error instanceof BodyTooLarge)
      throw new PaymentError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes.`);
    throw new PaymentError('MALFORMED_JSON', 'The body did not arrive as announced.', {
      cause: error,
    });
  }
};

/** Names of codings ignore case, and an empty list has none (RFC 9110 8.4, RFC 9112 6.1). */
const isCompressed = ({ headers }: IncomingMessage): boolean =>
  codingsIn(headers['content-encoding']).some((name) => name !== 'identity') ||
  codingsIn(headers['transfer-encoding']).some((name) => name !== 'chunked');

const codingsIn = (header = ''): string[] =>
  header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

/** Whether reading a body threw this because the connection had ended. */
export const isBodyCut = (error: unknown): boolean =>
  error instanceof PaymentError && error.cause instanceof BodyCut;

/** @throws PaymentError like `readBytes` */
const readText = async (req: IncomingMessage): Promise<string> => {
  const bytes = await readBytes(req);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new PaymentError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  }
};

const mediaType = (req: IncomingMessage): string =>
  (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Whether the text is UTF-8: ASCII is, and UTF-8 has other names (WHATWG Encoding, 4.2). */
const isUtf8 = (req: IncomingMessage): boolean => {
  const parameter = /;\s*charset\s*=\s*["']?([^"';\s]+)/i.exec(req.headers['content-type'] ?? '');
  const [, label = 'utf-8'] = parameter ?? [];
  if (/^(us-)?ascii$/i.test(label)) return true;
  try {
    return new TextDecoder(label).encoding === 'utf-8';
  } catch {
    return false;
  }
};

/**
 * @param options.optional an empty body means no field, whatever its headers say: proxies and streaming clients send
 *   one in chunks, without a media type
 * @throws PaymentError like `readBytes`
 */
export const readJson = async (
  req: IncomingMessage,
  { optional = false }: { optional?: boolean | undefined } = {},
): Promise<JsonNode> => {
  if (optional && (await readBytes(req)).length === 0) return nothing;
  if (mediaType(req) !== 'application/json' || !isUtf8(req))
    throw new PaymentError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json in UTF-8.');
  const text = await readText(req);
  if (text === '')
    throw new PaymentError('MALFORMED_JSON', 'The body is empty. Without any field it is {}.');
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PaymentError('MALFORMED_JSON', `The body is not acceptable JSON: ${error.message}.`);
  }
};

/** Reads a browser's form; any other media type reads as an empty form. @throws PaymentError like `readBytes` */
export const readForm = async (req: IncomingMessage): Promise<URLSearchParams> => {
  const text = await readText(req);
  return new URLSearchParams(
    mediaType(req) === 'application/x-www-form-urlencoded' ? text : undefined,
  );
};

/** Reads the form that a page of somebody else had a browser send. A body that is no form within the limit has no fields. */
export const readFields = async (req: IncomingMessage): Promise<URLSearchParams> => {
  try {
    return await readForm(req);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    return new URLSearchParams();
  }
};
