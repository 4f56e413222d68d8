import type { IncomingMessage } from 'node:http';
import rawBody from 'raw-body';
import { PaymentError } from '../contract/errors.ts';
import type { JsonNode } from '../contract/json.ts';
import { JsonError, scanJson } from '../contract/json.ts';
import { limits } from '../contract/limits.ts';

const maxBytes = limits.bodyKb * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** As it was sent. @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
export const readBytes = async (req: IncomingMessage): Promise<Buffer> => {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new PaymentError('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed.');
  try {
    return await rawBody(req, { limit: maxBytes, length: req.headers['content-length'] ?? null });
  } catch (error) {
    if (isOfType(error, 'entity.too.large'))
      throw new PaymentError('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes.`);
    throw new PaymentError('MALFORMED_JSON', 'The body did not arrive as announced.', {
      cause: error,
    });
  }
};

/** Whether this is what reading a body throws where its connection ended meanwhile, or before. */
export const isCutBody = (error: unknown): boolean =>
  error instanceof PaymentError &&
  ['request.aborted', 'stream.not.readable'].some((type) => isOfType(error.cause, type));

const isOfType = (error: unknown, type: string): boolean =>
  error instanceof Error && 'type' in error && error.type === type;

/** @throws PaymentError */
const readText = async (req: IncomingMessage): Promise<string> => {
  const bytes = await readBytes(req);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new PaymentError('MALFORMED_JSON', 'The body is not valid UTF-8.');
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
    return scanJson(text);
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
