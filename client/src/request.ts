import { ApiError, ConnectionError, PaymentsError, TimeoutError } from './errors.ts';
import type { ApiErrorFacts } from './errors.ts';

export interface Settings {
  token: string;
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: typeof fetch;
  userAgent: string;
  timeoutMs: number;
  maxRetries: number;
  onRequest: ((request: RequestFacts) => void) | undefined;
  onResponse: ((response: ResponseFacts) => void) | undefined;
}

/** One try that begins. Neither the token nor the body is part of it. */
export interface RequestFacts {
  method: 'GET' | 'POST';
  url: string;
  /** From 1. */
  attempt: number;
  idempotencyKey: string | undefined;
}

/** One try that has ended. */
export interface ResponseFacts extends RequestFacts {
  /** Undefined if no complete answer has arrived. */
  status: number | undefined;
  requestId: string | undefined;
  durationMs: number;
}

export interface RequestOptions {
  /** Ends the call with all its tries. */
  signal?: AbortSignal | undefined;
  /** The deadline of each try. */
  timeoutMs?: number | undefined;
  /** Tries after the first. 0 to make one try only. */
  maxRetries?: number | undefined;
}

export type IsAnswer = (answer: Record<string, unknown>) => boolean;

export interface Operation {
  method: 'GET' | 'POST';
  isAnswer: IsAnswer;
  /** The parts of the path after `/api/v1`. */
  path: readonly string[];
  query?: object | undefined;
  body?: object;
  idempotencyKey?: string;
  /** A second try could have a second effect. */
  once?: boolean;
}

/** A response with what surrounds its data. */
export interface Answer<T> {
  data: T;
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** True if the service has answered an earlier create with the same key again. */
  replayed: boolean;
  /** The body as it was sent. `metadata` has its number literals here. */
  text: string;
}

/** A call on its way: a promise of its data, or of the whole answer. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<T>>;

  constructor(answer: Promise<Answer<T>>) {
    this.#answer = answer;
  }
  withResponse(): Promise<Answer<T>> {
    return this.#answer;
  }
  // oxlint-disable-next-line unicorn/no-thenable -- a promise is what it is
  then<A = T, B = never>(
    onData?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then(({ data }) => data).then(onData, onError);
  }
  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onError);
  }
  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }
}

/** Sends a request, and sends it again where the result is not clear or the service asks for it. */
export const send = <T>(settings: Settings, request: Operation, options: RequestOptions = {}) =>
  new Call<T>(repeat(settings, request, options));

const repeat = async <T>(settings: Settings, request: Operation, options: RequestOptions) => {
  const { maxRetries, timeoutMs } = checkedLimits({ ...settings, ...defined(options) });
  const { signal } = options;
  const url = urlOf(settings, request);
  const key: unknown = request.idempotencyKey ?? 'none';
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key))
    throw new PaymentsError('The idempotency key must have 1 to 255 printable ASCII characters.');
  // Once: the same bytes in every try, or the service would see another request under the same key.
  const text = request.body && JSON.stringify(request.body);
  for (let tries = 0; ; tries += 1) {
    try {
      return await observed(settings, { ...request, url, text }, tries + 1, (sent) =>
        attempt<T>(settings, sent, { signal, timeoutMs }),
      );
    } catch (error) {
      const delayMs = retryDelayMs(error, tries);
      const isOver = tries >= maxRetries || request.once || signal?.aborted;
      if (isOver || delayMs === undefined) throw error;
      await sleep(delayMs, signal);
    }
  }
};

/** Without the options that the caller has left out. */
const defined = ({ maxRetries, timeoutMs }: RequestOptions) => ({
  ...(maxRetries !== undefined && { maxRetries }),
  ...(timeoutMs !== undefined && { timeoutMs }),
});

/** @throws PaymentsError: NaN would be no limit */
export const checkedLimits = <T extends { timeoutMs: number; maxRetries: number }>(
  limits: T,
): T => {
  if (!(limits.timeoutMs > 0)) throw new PaymentsError('timeoutMs must be a number above 0.');
  if (!(Number.isInteger(limits.maxRetries) && limits.maxRetries >= 0))
    throw new PaymentsError('maxRetries must be a whole number from 0.');
  return limits;
};

/** Tells the hooks of the caller about a try. */
const observed = async <T>(
  { onRequest, onResponse }: Settings,
  sent: Sent,
  attemptNumber: number,
  work: (sent: Sent) => Promise<Answer<T>>,
): Promise<Answer<T>> => {
  const { method, url, idempotencyKey } = sent;
  const facts = { method, url, attempt: attemptNumber, idempotencyKey };
  const begunAt = Date.now();
  const ended = (status?: number, requestId?: string) =>
    tell(onResponse, { ...facts, status, requestId, durationMs: Date.now() - begunAt });
  tell(onRequest, facts);
  try {
    const answer = await work(sent);
    ended(answer.status, answer.requestId);
    return answer;
  } catch (error) {
    if (error instanceof ApiError) ended(error.status, error.requestId);
    else ended();
    throw error;
  }
};

/** A hook is for logs and metrics. Its error must not look like the result of the call, which may have made a payment. */
const tell = <Facts>(hook: ((facts: Facts) => unknown) | undefined, facts: Facts): void => {
  const report = (error: unknown) => console.error('A hook of the payments client failed:', error);
  try {
    void Promise.resolve(hook?.(facts)).catch(report);
  } catch (error) {
    report(error);
  }
};

type Sent = Operation & { url: string; text: string | undefined };

const attempt = async <T>(
  settings: Settings,
  request: Sent,
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<Answer<T>> => {
  const { method, idempotencyKey, text: body } = request;
  const what = `${method} /${request.path.join('/')}`;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  let isLate = false;
  const timer = setTimeout(
    () => {
      isLate = true;
      controller.abort();
    },
    // A longer timer would fire at once.
    Math.min(timeoutMs, 0x7f_ff_ff_ff),
  );
  // As a method of the settings, the fetch of a browser or a worker refuses to run.
  const { fetch } = settings;
  let response: Response, text: string;
  try {
    if (signal?.aborted) throw signal.reason;
    response = await fetch(request.url, {
      method,
      headers: headersOf(settings, request),
      ...(body !== undefined && { body }),
      // With the token a redirect goes nowhere.
      redirect: 'manual',
      signal: controller.signal,
      // Frameworks patch fetch with a cache, and some runtimes reject the field.
      ...(method === 'GET' && typeof Request === 'function' && 'cache' in Request.prototype
        ? { cache: 'no-store' as const }
        : {}),
    });
    text = await textOf(response);
  } catch (cause) {
    const facts = { cause, retryable: true, idempotencyKey };
    if (signal?.aborted) throw new ConnectionError(`${what} was aborted by its caller.`, facts);
    if (isLate) throw new TimeoutError(`${what} took longer than ${timeoutMs} ms.`, facts);
    const problem = `no complete answer from ${settings.baseUrl} (${reasonOf(cause)})`;
    throw new ConnectionError(`${what} got ${problem}.`, facts);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  return read<T>(what, request, response, text);
};

const answerMaxBytes = 16 * 1024 * 1024;

/** @throws if the answer is larger than any of the service's */
const textOf = async ({ body }: Response): Promise<string> => {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > answerMaxBytes) {
      void reader.cancel();
      throw new Error('the answer is too large');
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
};

const urlOf = ({ baseUrl }: Settings, { path, query = {} }: Operation): string => {
  // An empty id would be the address of the list, and dots that of another route.
  if (path.some((part) => typeof part !== 'string' || /^\.{0,2}$|\p{Cs}/u.test(part)))
    throw new PaymentsError('The id is empty, or it is not an id of the service.');
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(
    query as Record<string, string | number | null | undefined>,
  ))
    if (value !== undefined && value !== null) search.set(name, String(value));
  const [parts, filters] = [path.map(encodeURIComponent).join('/'), search.toString()];
  return `${baseUrl}/api/v1/${parts}${filters && `?${filters}`}`;
};

const headersOf = ({ token, userAgent }: Settings, { text, idempotencyKey }: Sent) => ({
  accept: 'application/json',
  authorization: `Bearer ${token}`,
  'user-agent': userAgent,
  ...(text !== undefined && { 'content-type': 'application/json' }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
});

/** @throws ApiError, or ConnectionError if a success has no complete JSON */
const read = <T>(what: string, sent: Sent, response: Response, text: string): Answer<T> => {
  const { status, headers, ok } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const content = parse(text);
  const replayed = headers.get('idempotent-replayed') === 'true';
  if (ok && content && sent.isAnswer(content))
    return { data: content as T, status, headers, requestId, replayed, text };
  const { idempotencyKey } = sent;
  const retryable = ok || status === 429 || status >= 500;
  if (ok) {
    const problem = content
      ? 'what this route never answers. Is baseUrl right? Is there a proxy or a cache?'
      : 'incomplete JSON.';
    const message = `${what} was answered with ${status} and ${problem}`;
    throw new ConnectionError(message, { retryable, idempotencyKey });
  }
  const known = knownError(content?.['error']);
  const retryAfter = secondsOf(headers.get('retry-after') ?? known?.details?.retry_after);
  const code = typeof known?.code === 'string' ? known.code : 'UNEXPECTED_RESPONSE';
  throw new ApiError(`${what} was answered with ${status} ${code}: ${messageOf(status, known)}`, {
    code,
    status,
    requestId,
    idempotencyKey,
    details: known?.details,
    retryable,
    retryAfterSeconds: retryAfter,
  });
};

type Known = Partial<Pick<ApiErrorFacts, 'code' | 'details'> & { message: string }>;

/** The error of a proxy can have any shape. */
const knownError = (error: unknown): Known | undefined => {
  const { details, ...known } = (Object(error) === error ? error : {}) as Known;
  if (Object(details) !== details) return known;
  const fields: unknown = details?.fields;
  const isRight =
    fields === undefined ||
    (Array.isArray(fields) && fields.every((field) => Object(field) === field));
  return isRight ? { ...known, details } : known;
};

/** A number of seconds, or a date. Undefined for anything else. */
const secondsOf = (text: string | number | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined;
  const seconds = /^\d+$/.test(String(text))
    ? Number(text)
    : Math.max(0, (Date.parse(String(text)) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : seconds;
};

const messageOf = (status: number, known: Known | undefined) => {
  if (known?.code === 'NOT_FOUND')
    return 'The service does not have this path. Is baseUrl right? Is the service older than this client?';
  if (typeof known?.message === 'string') {
    const [field] = known.details?.fields ?? [];
    return plain(known.message + (field ? ` (${field.path}: ${field.message})` : ''));
  }
  return status < 400
    ? 'Redirects are not followed. Is baseUrl right?'
    : 'The answer is not from the payment service. Is baseUrl right? Is there a proxy?';
};

const messageMax = 500;

/** On one line, without characters that move the cursor of a terminal. */
const plain = (text: string): string =>
  text.slice(0, messageMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    const content: unknown = JSON.parse(text);
    return Object(content) === content ? (content as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

/** `fetch failed` hides the reason in its cause. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  return String(code || message || cause);
};

const maxDelayMs = 5_000;

/** Undefined if another try makes no sense now. */
const retryDelayMs = (error: unknown, tries: number): number | undefined => {
  const growing = Math.min(500 * 2 ** tries, maxDelayMs) * (0.5 + Math.random() / 2);
  if (!(error instanceof ApiError)) return error instanceof PaymentsError ? growing : undefined;
  const { status, code, retryAfterSeconds: seconds } = error;
  // 429 means that the minute is used up: without a short delay the caller decides.
  const waitsMs = seconds === undefined ? (status === 429 ? Infinity : 0) : seconds * 1000;
  const isTriedAgain =
    [429, 500, 503].includes(status) ||
    // A proxy got no answer from the service.
    (code === 'UNEXPECTED_RESPONSE' && status > 501);
  // Clients that were refused together come back apart from each other.
  return isTriedAgain && waitsMs <= maxDelayMs ? waitsMs + growing : undefined;
};

/** Ends early when the signal does; the next try then reports it. */
export const sleep = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : ms);
    signal?.addEventListener('abort', end);
  });
