import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from './journal.ts';

export interface Answer {
  status: number;
  /** Where a browser is sent. */
  location: string;
  text: string;
}

export interface Request {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string | URLSearchParams;
}

export interface Patience {
  /** For the notes, e.g. `create`. */
  what: string;
  order: string;
  /** Until when it is tried again. */
  until: number;
  /** The answers that end the waiting. */
  takes: (status: number) => boolean;
  /** Asks the gateway, which may be silent. */
  asksGateway?: boolean;
}

const callMs = 25_000;
const pauseMs = 500;
const away = 503;
const gatewaySilent = 502;

/**
 * A caller who tries again until it works, as people and programs do. No answer and a 503 are what
 * a kill looks like. A 500 is a fault of ours, also while a part is away, and a 4xx is never right, as
 * nothing that is asked here is wrong.
 */
export const createClient = (journal: Journal) => {
  const once = async ({ method, url, headers, body }: Request): Promise<Answer> => {
    const response = await fetch(url, {
      ...{ method, redirect: 'manual', signal: AbortSignal.timeout(callMs) },
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    });
    const location = response.headers.get('location') ?? '';
    return { status: response.status, location, text: await response.text() };
  };
  /** Undefined when it did not work in time. */
  return async (request: Request, patience: Patience): Promise<Answer | undefined> => {
    const { what, order, until, takes, asksGateway = false } = patience;
    do {
      try {
        const answer = await once(request);
        const { status, location, text } = answer;
        journal.count(`${what} ${status}`);
        journal.note(order, `${what}: ${status} ${location}`);
        if (takes(status)) return answer;
        const isPassing = status === away || (status === gatewaySilent && asksGateway);
        if (!isPassing) journal.problem(order, `${what} was answered ${status}: ${text}`);
      } catch (error) {
        const cause = error instanceof Error ? (error.cause ?? error) : error;
        journal.count(`${what} without an answer`);
        journal.note(order, `${what}: no answer (${String(cause)})`);
      }
      await sleep(pauseMs);
    } while (Date.now() < until);
    return undefined;
  };
};
export type Client = ReturnType<typeof createClient>;
