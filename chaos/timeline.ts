import type { Kill } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Created } from './wishes.ts';
import type { Post } from './receiver.ts';

export interface Seen {
  journal: Journal;
  posts: readonly Post[];
  kills: readonly Kill[];
}

/** What happened to one payment, and around it, a line each. */
export const timelineOf = (payment: Created, { journal, posts, kills }: Seen): string[] => {
  const { id, order, gateway } = payment;
  const references = gateway.entriesOf(id).map(([reference]) => reference);
  const calls = gateway.provider.calls.filter(({ path, text }) =>
    [id, ...references].some((name) => path.includes(name) || text.includes(name)),
  );
  const own = [
    ...journal.notesOf(order),
    ...calls.map(({ at, method, path }) => ({
      at,
      text: `${gateway.slug} is called: ${method} ${path}`,
    })),
    ...posts
      .filter(({ paymentId }) => paymentId === id)
      .map(({ at, number, status }) => ({
        ...{ at, text: `webhook, attempt ${number}, answered ${status ?? 'not at all'}` },
      })),
    { at: payment.expiresAt, text: 'it expires' },
  ];
  const first = Math.min(...own.map(({ at }) => at));
  const last = Math.max(...own.map(({ at }) => at));
  const around = kills
    .filter(({ at }) => at >= first - 1_000 && at <= last)
    .map(({ at, member }) => ({ at, text: `kill -9 of ${member.name}` }));
  return [...own, ...around]
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, text }) => `${new Date(at).toISOString().slice(11, 23)}  ${text.slice(0, 160)}`);
};
