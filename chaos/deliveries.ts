import { delaysMs } from '../webhooks/schedule.ts';
import type { Post } from './receiver.ts';
import type { LedgerRow } from './records.ts';
import type { Absences } from './recovery.ts';

export interface Sent {
  posts: readonly Post[];
  ledger: readonly LedgerRow[];
  absences: Absences;
}

/** How long after its answer a POST may not be in the ledger yet. */
const recordMs = 5_000;
/** How much later than it happened a death, or what the dead had sent, may be seen. */
const lagMs = 1_000;
const deadlineMs = 10_000;

/** Where the POSTs that arrived and the ledger do not say the same, or say it too often. */
export const deliveryProblems = ({ posts, ledger, absences }: Sent): string[] => {
  const byNumber = Map.groupBy(posts, ({ number }) => number);
  const numbers = ledger.map(({ number }) => number);
  const problems: string[] = [];
  if (!posts.some(({ status }) => status === 204)) problems.push('no POST of it was accepted');
  if (numbers.some((number, index) => number !== index + 1))
    problems.push(`its ledger has the numbers ${numbers.join(', ')}`);
  for (const number of byNumber.keys())
    if (!numbers.includes(number)) problems.push(`attempt ${number} is not in the ledger`);
  for (const row of ledger) problems.push(...rowProblems(row, byNumber.get(row.number) ?? []));
  for (const [number, same] of byNumber) {
    const again = same.slice(0, -1).filter((post) => !wasCut(post, absences));
    if (again.length > 0)
      problems.push(`attempt ${number} was sent ${same.length} times, and ${again.length} not cut`);
  }
  for (const [number, same] of byNumber)
    problems.push(...earlyProblems(same, byNumber.get(number - 1)));
  const accepted = posts.find(({ status }) => status === 204);
  const further =
    accepted && posts.slice(posts.indexOf(accepted)).find(({ number }) => number > accepted.number);
  if (further) problems.push(`attempt ${further.number} came after one that was accepted`);
  return problems;
};

const rowProblems = (row: LedgerRow, same: readonly Post[]): string[] => {
  const { number, completed, status } = row;
  if (!completed) return [`attempt ${number} was never completed`];
  if (status === null) return [];
  return same.some((post) => post.status === status)
    ? []
    : [`attempt ${number} is recorded as ${status}, which nobody answered`];
};

/** From the end of the attempt before, however often that was sent. */
const earlyProblems = ([post]: readonly Post[], before: readonly Post[] = []): string[] => {
  const last = before.at(-1);
  if (!post || !last) return [];
  const waitedMs = post.at - (last.endedAt ?? last.at);
  const delayMs = delaysMs[last.number - 1] ?? 0;
  return waitedMs < delayMs - lagMs
    ? [`attempt ${post.number} came ${waitedMs} ms after the one before, not ${delayMs}`]
    : [];
};

/** Its sender, or the ledger, was gone before what came of it could be recorded. */
const wasCut = (
  { at, endedAt = at + deadlineMs, sender }: Post,
  { workers, postgres }: Absences,
): boolean => {
  const recordedAt = endedAt + recordMs;
  return (
    postgres.some(({ from, to }) => from < recordedAt && to > endedAt - lagMs) ||
    workers.some(
      // Where it was not found out who sent it, anybody's.
      ({ pid, at: diedAt }) =>
        (sender ?? pid) === pid && diedAt > at - lagMs && diedAt < recordedAt,
    )
  );
};
