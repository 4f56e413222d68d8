import { type Dispatcher, request } from 'undici';
import type { AttemptResult } from '../postgres/deliveries.ts';
import { ConnectTimeout } from './webhook-connector.ts';
import type { Failure } from './webhook-failure.ts';
import { failureOf } from './webhook-failure.ts';
import { statusBefore } from './webhook-status-line.ts';

/** Over the whole attempt: name resolution, connecting, TLS, headers and body. Contract, section 6. */
export const attemptDeadlineMs = 10_000;
const maxReadBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  dispatcher: Dispatcher;
  /** Cuts the attempt short, e.g. when the worker stops. */
  signal: AbortSignal;
  /** Shorter in tests. */
  deadlineMs?: number;
}

/** One POST. Never throws for what the receiver does: every way to fail is a result. */
export const post = async ({
  deadlineMs = attemptDeadlineMs,
  ...webhook
}: WebhookRequest): Promise<AttemptResult> => {
  const began = performance.now();
  const elapsedMs = () => Math.round(performance.now() - began);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deadlineMs);
  const stop = () => deadline.abort();
  webhook.signal.addEventListener('abort', stop);
  try {
    webhook.signal.throwIfAborted();
    const answered = await send(webhook, deadline.signal);
    return { ...answered, durationMs: elapsedMs() };
  } catch (error) {
    if (webhook.signal.aborted) throw webhook.signal.reason;
    const failed = deadline.signal.aborted ? outOfTime(deadlineMs) : failureOf(error);
    const brokeOff = failed.errorClass === 'reset' ? statusBefore(error) : undefined;
    if (brokeOff !== undefined && isAccepted(brokeOff))
      return { ...accepted, responseStatus: brokeOff, durationMs: elapsedMs() };
    return { ...unanswered, ...failed, durationMs: elapsedMs() };
  } finally {
    clearTimeout(timer);
    webhook.signal.removeEventListener('abort', stop);
  }
};

type Answer = Omit<AttemptResult, 'durationMs'>;

const unanswered = { responseStatus: null, responseBody: null, responseTruncated: false };

/** The status line decides: a 2xx was received, also where its headers or its body break off. */
const isAccepted = (status: number): boolean => status >= 200 && status < 300;
const accepted = { ...unanswered, errorClass: null, error: null };

const outOfTime = (deadlineMs: number): Failure => ({
  errorClass: 'timeout',
  error: `No complete answer within ${deadlineMs / 1000} seconds`,
});

type Sendable = Omit<WebhookRequest, 'signal' | 'deadlineMs'>;

const send = async (webhook: Sendable, signal: AbortSignal): Promise<Answer> => {
  const { statusCode, body } = await requestOnce(webhook, signal);
  const { text, truncated } = await readSome(body);
  const answer = { responseStatus: statusCode, responseBody: text, responseTruncated: truncated };
  if (isAccepted(statusCode)) return { ...accepted, ...answer };
  return { ...answer, errorClass: 'http_status', error: `Answered ${statusCode}` };
};

/** A connection that another webhook began may run out of time before this one does: once anew. */
const requestOnce = async (webhook: Sendable, signal: AbortSignal) => {
  const { url, headers, body, dispatcher } = webhook;
  // Not decompressed and no redirect followed: undici's request() does neither.
  const options = { method: 'POST', headers, body, dispatcher, signal } as const;
  try {
    return await request(url, options);
  } catch (error) {
    if (!(error instanceof ConnectTimeout) || signal.aborted) throw error;
    return request(url, options);
  }
};

/** The beginning of a response body, as text that Postgres can keep. */
const readSome = async (body: Dispatcher.ResponseData['body']) => {
  const kept: Buffer[] = [];
  let bytes = 0;
  // By events: an iterator of a stream would cost more than the whole request.
  await new Promise<void>((resolve) => {
    body.on('data', (chunk: Buffer) => {
      if (bytes < maxKeptBytes) kept.push(chunk.subarray(0, maxKeptBytes - bytes));
      bytes += chunk.length;
      if (bytes >= maxReadBytes) body.destroy();
    });
    // What came before a break, or before the deadline, is kept.
    body.on('error', () => {});
    body.once('close', resolve);
  });
  const text = Buffer.concat(kept).toString('utf8').replaceAll('\0', '');
  return { text: text === '' ? null : text, truncated: bytes > maxKeptBytes };
};
