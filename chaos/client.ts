import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from './journal.ts';

export interface Response {
  status: number;
  /** The target of a redirect. */
  location: string;
  text: string;
}

export interface Request {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string | URLSearchParams;
}

export interface RetryOptions {
  /** For the journal, e.g. `create`. */
  name: string;
  order: string;
  /** The request is repeated until then. */
  until: number;
  /** The statuses that end the repeating. */
  expects: readonly number[];
  /** The request calls the gateway, which can be silent. */
  callsGateway?: boolean;
}

const timeoutMs = 25_000;
const pauseMs = 500;
const unavailable = 503;
const gatewayUnavailable = 502;

/**
 * A caller who repeats requests until they succeed, as people and programs do. A kill looks like no
 * response or a 503. A 500 is a fault of ours, also while a process is down, and so is a 4xx, because
 * none of these requests is wrong.
 */
export const createClient = (journal: Journal) => {
  const send = async ({ method, url, headers, body }: Request): Promise<Response> => {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
    const location = response.headers.get('location') ?? '';
    return { status: response.status, location, text: await response.text() };
  };
  /** Undefined when the request did not succeed in time. */
  return async (request: Request, options: RetryOptions): Promise<Response | undefined> => {
    const { name, order, until, expects, callsGateway = false } = options;
    do {
      try {
        const response = await send(request);
        const { status, location, text } = response;
        journal.count(`${name} ${status}`);
        journal.note(order, `${name}: ${status} ${location}`);
        if (expects.includes(status)) return response;
        const isPassing = status === unavailable || (status === gatewayUnavailable && callsGateway);
        if (!isPassing) journal.addProblem(order, `${name} was answered ${status}: ${text}`);
      } catch (error) {
        const cause = error instanceof Error ? (error.cause ?? error) : error;
        journal.count(`${name} without a response`);
        journal.note(order, `${name}: no response (${String(cause)})`);
      }
      await sleep(pauseMs);
    } while (Date.now() < until);
    return undefined;
  };
};
export type Client = ReturnType<typeof createClient>;
