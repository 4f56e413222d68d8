import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { html } from 'hono/html';
import { type ConsoleResponse, page, type PersonRequest, type Route } from './request.ts';

const keptMs = 10 * 60_000;
const keptMax = 500;
const reloadSeconds = 1;

interface Work {
  /** The person who asked for it. */
  name: string;
  title: string;
  /** The page that it leads back to. */
  back: string;
  answer: Promise<ConsoleResponse>;
  /** By the clock of this process, which nobody sets back. */
  keptAt: number;
}

/**
 * Changes that take long, as while a worker hangs. Their person sees a page that loads itself again, without a script, until
 * the answer is there. The answer is in the memory of this process alone and is read once: it may show a secret.
 * @param afterMs a person who waits longer sees that something happens
 */
export const createWaiting = (afterMs: number) => {
  const kept = new Map<string, Work>();
  const isOver = ({ answer }: Pick<Work, 'answer'>): Promise<boolean> =>
    Promise.race([
      answer.then(
        () => true,
        () => true,
      ),
      delay(afterMs, false, { ref: false }),
    ]);

  const show = async ({ params, session }: PersonRequest): Promise<ConsoleResponse> => {
    const work = kept.get(params.id);
    if (work?.name !== session.name || performance.now() - work.keptAt > keptMs)
      return page(
        'The answer was shown before',
        html`<p>What was asked for stays done. The page of the thing says how it is now, and the answer is not shown twice.</p>`,
        404,
      );
    if (await isOver(work)) {
      kept.delete(params.id);
      return work.answer;
    }
    return {
      ...page(
        work.title,
        html`<p role="status">No answer yet. This page shows it by itself, for the most part within ten seconds.</p>
          <div class="actions"><a class="button" href="${work.back}">Do not wait</a></div>`,
      ),
      reloadSeconds,
    };
  };

  return {
    /** @returns the answer, or the way to the page that waits for it */
    async orShow(work: Omit<Work, 'keptAt'>): Promise<ConsoleResponse> {
      if (await isOver(work)) return work.answer;
      const id = randomUUID();
      kept.set(id, { ...work, keptAt: performance.now() });
      const [oldest] = kept.keys();
      if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
      return { kind: 'redirect', to: `/waiting/${id}` };
    },
    route: {
      method: 'GET',
      path: '/waiting/:id',
      role: 'viewer',
      owner: 'person',
      isPolled: true,
      handle: show,
    } satisfies Route,
  };
};
export type Waiting = ReturnType<typeof createWaiting>;
