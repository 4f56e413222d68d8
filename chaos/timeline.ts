import type { Kill } from './disruptions.ts';
import type { Journal } from './journal.ts';
import type { Post } from './receiver.ts';
import type { CreatedPayment } from './scenarios.ts';

export interface TimelineSources {
  journal: Journal;
  posts: readonly Post[];
  kills: readonly Kill[];
}

/** Lists what happened to one payment, and the kills at that time, one line each. */
export const formatTimeline = (
  payment: CreatedPayment,
  { journal, posts, kills }: TimelineSources,
): string[] => {
  const { id, order, candidates } = payment;
  const calls = candidates.flatMap((gateway) => {
    const references = gateway.entriesFor(id).map(([reference]) => reference);
    return gateway.provider.calls
      .filter(({ path, text }) =>
        [id, ...references].some((name) => path.includes(name) || text.includes(name)),
      )
      .map(({ at, method, path }) => ({ at, text: `${gateway.slug} got ${method} ${path}` }));
  });
  const entries = [
    ...journal.notesFor(order),
    ...calls,
    ...posts
      .filter(({ paymentId }) => paymentId === id)
      .map(({ at, number, status = 'nothing' }) => ({
        at,
        text: `webhook, attempt ${number}, answered ${status}`,
      })),
    { at: payment.expiresAt, text: 'it expires' },
  ];
  const first = Math.min(...entries.map(({ at }) => at));
  const last = Math.max(...entries.map(({ at }) => at));
  const killEntries = kills
    .filter(({ at }) => at >= first - 1_000 && at <= last)
    .map(({ at, member }) => ({ at, text: `kill -9 of ${member.name}` }));
  return [...entries, ...killEntries]
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, text }) => `${new Date(at).toISOString().slice(11, 23)}  ${text.slice(0, 160)}`);
};
