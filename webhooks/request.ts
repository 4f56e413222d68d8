import type { Dispatcher } from 'undici';
import type { AttemptResult } from '../contract/attempt.ts';
import { limits } from '../contract/limits.ts';
import { failureOf } from './failure.ts';

/** For the whole attempt: name resolution, connection, TLS, headers and body. */
export const attemptDeadlineMs = limits.attemptSeconds * 1000;
const maxReadBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  dispatcher: Pick<Dispatcher, 'dispatch'>;
  /** Aborts the attempt, e.g. when the worker stops. */
  signal: AbortSignal;
  /** Shorter in tests. */
  deadlineMs?: number;
}

/**
 * Sends one POST. Follows no redirect and decompresses nothing. Every fault of the receiver is a result.
 * undici's handlers, because its `request()` makes a stream, which costs as much as the rest of an attempt.
 * @throws the signal's reason if it aborts the attempt, or an error if the fault is ours
 */
export const post = async ({
  deadlineMs = attemptDeadlineMs,
  signal,
  ...webhook
}: WebhookRequest): Promise<AttemptResult> => {
  signal.throwIfAborted();
  const began = performance.now();
  const handle: AbortHandle = { aborted: false, abort: () => {} };
  const abort = () => {
    handle.aborted = true;
    handle.abort();
  };
  const timer = setTimeout(abort, deadlineMs);
  signal.addEventListener('abort', abort);
  try {
    const response = await exchange(webhook, handle);
    return { ...toResult(response), durationMs: elapsedMs(began) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const failure = handle.aborted ? timedOut(deadlineMs) : failureOf(error);
    return { ...noResponse, ...failure, durationMs: elapsedMs(began) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
};

/** Set by the deadline or the signal. A second AbortSignal for each attempt would cost a third of it. */
interface AbortHandle {
  aborted: boolean;
  /** Ends the exchange. */
  abort: () => void;
}

const elapsedMs = (began: number): number => Math.round(performance.now() - began);

const noResponse = { responseStatus: null, responseBody: null, responseTruncated: false };

const timedOut = (deadlineMs: number) => ({
  errorClass: 'timeout' as const,
  error: `No complete response within ${deadlineMs / 1000} seconds`,
});

interface Response {
  status: number;
  /** The start of the body. */
  kept: Buffer[];
  /** Bytes of the body that were read. */
  bytes: number;
}

/** The status decides: a 2xx is delivered even if its body breaks off. */
const toResult = ({ status, kept, bytes }: Response): Omit<AttemptResult, 'durationMs'> => {
  // Postgres takes no NUL in a text.
  const text = Buffer.concat(kept).toString('utf8').replaceAll('\0', '');
  const isAccepted = status >= 200 && status < 300;
  return {
    responseStatus: status,
    errorClass: isAccepted ? null : 'http_status',
    error: isAccepted ? null : `The receiver answered ${status}`,
    responseBody: text === '' ? null : text,
    responseTruncated: bytes > maxKeptBytes,
  };
};

/**
 * One request with undici's handlers: its `request()` makes a stream, which costs as much as all the rest.
 * Once the headers are complete it succeeds, with as much of the body as came before the end or the abort.
 */
const exchange = (
  {
    url,
    headers,
    body,
    dispatcher,
  }: Pick<WebhookRequest, 'url' | 'headers' | 'body' | 'dispatcher'>,
  handle: AbortHandle,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    let response: Response | undefined;
    const end = (error?: Error) => {
      if (response) resolve(response);
      else reject(error ?? new Error('The response has no status'));
    };
    let request: Dispatcher.DispatchController | undefined;
    handle.abort = () => {
      const reason = new Error('The attempt was aborted');
      request?.abort(reason);
      end(reason);
    };
    dispatcher.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(controller) {
          request = controller;
          // It may have waited for a connection until after the abort.
          if (handle.aborted) handle.abort();
        },
        onResponseStart(_controller, status) {
          // A 1xx is followed by the final status.
          if (status >= 200) response = { status, kept: [], bytes: 0 };
        },
        onResponseData(controller, chunk) {
          if (!response) return;
          if (response.bytes < maxKeptBytes)
            response.kept.push(chunk.subarray(0, maxKeptBytes - response.bytes));
          response.bytes += chunk.length;
          if (response.bytes >= maxReadBytes) controller.abort(new Error('Enough was read'));
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      },
    );
  });
