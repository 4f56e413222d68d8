import type { IncomingMessage } from 'node:http';
import { PaymentError } from '../../contract/errors.ts';
import type { JsonNode } from '../../contract/json.ts';
import { JsonError, parseJson } from '../../contract/json.ts';
import { limits } from '../../contract/limits.ts';

const maxBytes = limits.requestBodyKb * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Its connection ended before the body did. */
class CutBody extends Error {}
class LongBody extends Error {}

interface Body {
  buffer: Buffer;
  /** Of what came in: the buffer may be larger. */
  length: number;
}

const bytesOf = ({ buffer, length }: Body): Buffer => buffer.subarray(0, length);

/** What comes in, by its request, until it was read as text. */
const bodies = new WeakMap<IncomingMessage, Promise<Body>>();

/**
 * Larger bodies are copied at once into buffers that are used again. Each waits for a statement before
 * it is read, which is long enough for V8 to take it for old: at 50 at once some 30 MB that nobody
 * needed any more stood until old garbage was collected.
 */
const spare: Buffer[] = [];
const spareMax = 64;
const largeBytes = 16 * 1024;

const larger = (needed: number): Buffer =>
  needed > largeBytes
    ? (spare.pop() ?? Buffer.allocUnsafeSlow(maxBytes))
    : Buffer.allocUnsafe(Math.max(needed * 2, 1024));

const giveBack = (req: IncomingMessage, { buffer }: Body) => {
  // Once: two bodies in one buffer would be mixed up.
  const isOurs = bodies.delete(req) && buffer.length === maxBytes;
  if (isOurs && spare.length < spareMax) spare.push(buffer);
};

/**
 * Takes the body in from its first byte on, whether somebody reads it or not: what waits unread is
 * kept in the pieces it came in.
 */
export const bufferBody = (req: IncomingMessage): void => {
  // Most requests have none.
  if (!('content-length' in req.headers) && !('transfer-encoding' in req.headers)) return;
  const body = collect(req);
  body.catch(() => {}); // Nobody may ever ask for it.
  bodies.set(req, body);
};

/**
 * Into one buffer. A sender chooses the pieces: of one byte each, as objects, they would take two hundred
 * times the body's size, and some dozens of them all the memory there is.
 */
const collect = (req: IncomingMessage): Promise<Body> =>
  new Promise((resolve, reject) => {
    if (!req.readable) return reject(new CutBody());
    let buffer: Buffer = Buffer.alloc(0);
    let length = 0;
    const take = (piece: Buffer) => {
      const needed = length + piece.length;
      if (needed > maxBytes) {
        // The rest is read past.
        req.off('data', take).resume();
        return reject(new LongBody());
      }
      if (length === 0 && needed <= largeBytes) buffer = piece;
      else {
        if (needed > buffer.length) {
          const before = bytesOf({ buffer, length });
          buffer = larger(needed);
          buffer.set(before);
        }
        buffer.set(piece, length);
      }
      length = needed;
    };
    const cut = () => reject(new CutBody());
    req.on('data', take).once('close', cut);
    req.once('end', () => {
      req.off('close', cut);
      resolve({ buffer, length });
    });
  });

/** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
const readBody = async (req: IncomingMessage): Promise<Body> => {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new PaymentError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.');
  const announced = Number(req.headers['content-length'] ?? 0);
  try {
    if (announced > maxBytes) throw new LongBody();
    return await (bodies.get(req) ?? collect(req));
  } catch (error) {
    if (error instanceof LongBody)
      throw new PaymentError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes.`);
    throw new PaymentError('MALFORMED_JSON', 'The body did not arrive as announced.', {
      cause: error,
    });
  }
};

/** As it was sent. @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
export const readBytes = async (req: IncomingMessage): Promise<Buffer> =>
  bytesOf(await readBody(req));

/** Whether this is what reading a body throws where its connection ended meanwhile, or before. */
export const isCutBody = (error: unknown): boolean =>
  error instanceof PaymentError && error.cause instanceof CutBody;

/** @throws PaymentError */
const readText = async (req: IncomingMessage): Promise<string> => {
  const body = await readBody(req);
  try {
    return utf8.decode(bytesOf(body));
  } catch {
    throw new PaymentError('MALFORMED_JSON', 'The body is not valid UTF-8.');
  } finally {
    giveBack(req, body);
  }
};

const mediaTypeOf = (req: IncomingMessage): string =>
  (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** @throws PaymentError */
export const readJson = async (req: IncomingMessage): Promise<JsonNode> => {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
  if (mediaTypeOf(req) !== 'application/json' || (charset && charset.toLowerCase() !== 'utf-8'))
    throw new PaymentError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json in UTF-8.');
  const text = await readText(req);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PaymentError('MALFORMED_JSON', `The body is not acceptable JSON: ${error.message}.`);
  }
};

/** A browser's form; anything else reads as an empty one. @throws PaymentError PAYLOAD_TOO_LARGE */
export const readForm = async (req: IncomingMessage): Promise<URLSearchParams> => {
  const text = await readText(req);
  return new URLSearchParams(
    mediaTypeOf(req) === 'application/x-www-form-urlencoded' ? text : undefined,
  );
};
