import { setTimeout as sleep } from 'node:timers/promises';
import type { HandlerResult, RouteRequest } from '../http/route.ts';

/** A browser gets a page after this time, because a payer who sees nothing for a second opens the link again. */
export const showAfterMs = 800;

/** A browser shows a page and reloads it. A program wants the answer itself. */
export const isBrowser = ({ header }: Pick<RouteRequest, 'header'>): boolean =>
  (header('accept') ?? '').includes('text/html');

/** Answers with the page if the work takes too long for a payer. The work goes on. */
export const orWaitingPage = async <Result, Page extends HandlerResult>(
  request: Pick<RouteRequest, 'header'>,
  work: Promise<Result>,
  page: () => Promise<Page>,
): Promise<Result | Page> => {
  if (!isBrowser(request)) return work;
  const timer = new AbortController();
  try {
    const tooLong = sleep(showAfterMs, undefined, { signal: timer.signal });
    return await Promise.race([work, tooLong.then(page)]);
  } finally {
    timer.abort();
  }
};
