import { type Dispatcher, errors, request } from 'undici';
import type { AttemptResult } from '../postgres/deliveries.ts';

/** Over the whole attempt: name resolution, connecting, TLS, headers and body. */
export const deadlineMs = 10_000;
const maxReadBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  dispatcher: Dispatcher;
  /** Cuts the attempt short, e.g. when the worker stops. */
  signal: AbortSignal;
}

/** One POST. Never throws for what the receiver does: every way to fail is a result. */
export const post = async (webhook: WebhookRequest): Promise<AttemptResult> => {
  const began = performance.now();
  const result = (rest: Partial<AttemptResult>): AttemptResult => ({
    responseStatus: null,
    errorClass: null,
    error: null,
    responseBody: null,
    responseTruncated: false,
    ...rest,
    durationMs: Math.round(performance.now() - began),
  });
  try {
    const { statusCode, body } = await request(webhook.url, {
      method: 'POST',
      headers: webhook.headers,
      body: webhook.body,
      dispatcher: webhook.dispatcher,
      signal: AbortSignal.any([webhook.signal, AbortSignal.timeout(deadlineMs)]),
    });
    const kept = await readSome(body);
    const answered = {
      responseStatus: statusCode,
      responseBody: kept.text,
      responseTruncated: kept.truncated,
    };
    // The status line decides: a 2xx whose body breaks off was received.
    if (statusCode >= 200 && statusCode < 300) return result(answered);
    return result({ ...answered, errorClass: 'http_status', error: `Answered ${statusCode}` });
  } catch (error) {
    if (webhook.signal.aborted) throw webhook.signal.reason;
    return result(classify(error));
  }
};

/** The beginning of a response body, as text that Postgres can keep. */
const readSome = async (body: Dispatcher.ResponseData['body']) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxReadBytes) break;
    }
  } catch {
    // What came before the break is kept.
  }
  const text = Buffer.concat(chunks)
    .subarray(0, maxKeptBytes)
    .toString('utf8')
    .replaceAll('\0', '');
  return { text: text === '' ? null : text, truncated: bytes > maxKeptBytes };
};

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL']);
const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A class an admin can act on, and a text without addresses. */
const classify = (error: unknown): { errorClass: string; error: string } => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof Error && error.name === 'TimeoutError')
    return {
      errorClass: 'timeout',
      error: `No complete answer within ${deadlineMs / 1000} seconds`,
    };
  if (dnsCodes.has(code))
    return { errorClass: 'dns', error: 'The host name could not be resolved' };
  if (connectCodes.has(code)) return { errorClass: 'connect', error: 'The connection was refused' };
  if (resetCodes.has(code)) return { errorClass: 'reset', error: 'The connection broke off' };
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code))
    return { errorClass: 'tls', error: `TLS failed: ${code}` };
  if (error instanceof errors.UndiciError || code.startsWith('HPE_'))
    return { errorClass: 'protocol', error: `The answer was not usable HTTP: ${code}` };
  throw error;
};
