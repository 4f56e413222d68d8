import { DemoError } from './connection.ts';

export interface Wanted {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  timeoutMs?: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * One HTTP request that never follows a redirect by itself.
 * @throws DemoError when no answer came in time (10 s unless said otherwise)
 */
export const send = async (url: string, wanted: Wanted = {}): Promise<Answer> => {
  const { method = 'GET', headers = {}, body, timeoutMs = 10_000 } = wanted;
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    const why =
      error instanceof Error && error.name === 'TimeoutError'
        ? `within ${timeoutMs / 1000} s`
        : `(${reasonOf(error)})`;
    throw new DemoError(`${method} ${url} got no answer ${why}.`, { cause: error });
  }
};

/** `fetch failed` hides what failed in its cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error)
    return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return error.message;
};

/** Undefined when the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
