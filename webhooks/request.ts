import type { Dispatcher } from 'undici';
import type { AttemptResult } from '../postgres/deliveries.ts';
import type { Failure } from './failure.ts';
import { failureOf } from './failure.ts';
import { statusBefore } from './status-line.ts';

/** Over the whole attempt: name resolution, connecting, TLS, headers and body. Contract, section 6. */
export const attemptDeadlineMs = 10_000;
const maxReadBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  dispatcher: Pick<Dispatcher, 'dispatch'>;
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
  const cut: Cut = { made: false, stop: () => {} };
  const stop = () => {
    cut.made = true;
    cut.stop();
  };
  const timer = setTimeout(stop, deadlineMs);
  webhook.signal.addEventListener('abort', stop);
  try {
    webhook.signal.throwIfAborted();
    const answered = await send(webhook, cut);
    return { ...answered, durationMs: elapsedMs() };
  } catch (error) {
    if (webhook.signal.aborted) throw webhook.signal.reason;
    const failed = cut.made ? outOfTime(deadlineMs) : failureOf(error);
    const brokeOff = failed.errorClass === 'reset' ? statusBefore(error) : undefined;
    if (brokeOff !== undefined && isAccepted(brokeOff))
      return { ...accepted, responseStatus: brokeOff, durationMs: elapsedMs() };
    return { ...unanswered, ...failed, durationMs: elapsedMs() };
  } finally {
    clearTimeout(timer);
    webhook.signal.removeEventListener('abort', stop);
  }
};

/** By the deadline or by the worker's stop. Lighter than a second signal, for every attempt has one. */
interface Cut {
  made: boolean;
  /** Ends the exchange that is under way. */
  stop: () => void;
}

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

const send = async (webhook: Sendable, cut: Cut): Promise<Answer> => {
  const { status, kept, bytes } = await exchange(webhook, cut);
  const text = Buffer.concat(kept).toString('utf8').replaceAll('\0', '');
  const answer = {
    responseStatus: status,
    responseBody: text === '' ? null : text,
    responseTruncated: bytes > maxKeptBytes,
  };
  if (isAccepted(status)) return { ...accepted, ...answer };
  return { ...answer, errorClass: 'http_status', error: `Answered ${status}` };
};

interface Received {
  status: number;
  /** The beginning of the body. */
  kept: Buffer[];
  /** Of the body, as far as it was read. */
  bytes: number;
}

/**
 * One request by undici's handlers: a stream of the answer, as its `request()` makes one, would cost as
 * much as all the rest. Nothing is decompressed and no redirect is followed. From the headers on it
 * succeeds: what came before a break, or before the cut, is kept.
 */
const exchange = ({ url, headers, body, dispatcher }: Sendable, cut: Cut): Promise<Received> =>
  new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    let received: Received | undefined;
    const end = (error?: Error) => {
      if (received) resolve(received);
      else reject(error ?? new Error('An answer without a status'));
    };
    let sent: Dispatcher.DispatchController | undefined;
    cut.stop = () => {
      const reason = new Error('Cut short');
      sent?.abort(reason);
      end(reason);
    };
    dispatcher.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(controller) {
          sent = controller;
          // It waited for a connection until now: nobody waits for it any more.
          if (cut.made) cut.stop();
        },
        onResponseStart(_controller, status) {
          // Others are followed by the one that counts.
          if (status >= 200) received = { status, kept: [], bytes: 0 };
        },
        onResponseData(controller, chunk) {
          if (!received) return;
          if (received.bytes < maxKeptBytes)
            received.kept.push(chunk.subarray(0, maxKeptBytes - received.bytes));
          received.bytes += chunk.length;
          if (received.bytes >= maxReadBytes) controller.abort(new Error('Enough'));
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      },
    );
  });
