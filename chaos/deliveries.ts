import { limits } from '../contract/limits.ts';
import { delaysMs } from '../webhooks/schedule.ts';
import type { Disruptions } from './disruptions.ts';
import type { Post } from './receiver.ts';
import type { AttemptRow } from './service-records.ts';

export interface DeliveryEvidence {
  posts: readonly Post[];
  attempts: readonly AttemptRow[];
  disruptions: Disruptions;
}

/** The ledger may miss a POST for this long after its response. */
const recordMs = 5_000;
/** The death of a worker, and its POSTs, may be seen this much later than they happened. */
const lagMs = 1_000;
/** On a busy machine the receiver sees the end of an attempt this much later than the worker. */
const lateEndMs = 3_000;
const deadlineMs = limits.attemptSeconds * 1000;

/** Finds where the POSTs that arrived contradict the ledger, or arrived too often or too early. */
export const findDeliveryProblems = ({
  posts,
  attempts,
  disruptions,
}: DeliveryEvidence): string[] => {
  const byNumber = Map.groupBy(posts, ({ number }) => number);
  const numbers = attempts.map(({ number }) => number);
  const problems: string[] = [];
  if (!posts.some(({ status }) => status === 204)) problems.push('no POST of it was accepted');
  if (numbers.some((number, index) => number !== index + 1))
    problems.push(`its ledger has the numbers ${numbers.join(', ')}`);
  for (const number of byNumber.keys())
    if (!numbers.includes(number)) problems.push(`attempt ${number} is not in the ledger`);
  for (const row of attempts)
    problems.push(...findRowProblems(row, byNumber.get(row.number) ?? []));
  for (const [number, same] of byNumber) {
    const repeats = same.slice(0, -1).filter((post) => !isExcused(post, disruptions));
    if (repeats.length > 0)
      problems.push(
        `attempt ${number} was sent ${same.length} times, ${repeats.length} without a reason`,
      );
    problems.push(...findEarlyProblems(same, byNumber.get(number - 1)));
  }
  const accepted = posts.find(({ status }) => status === 204);
  const further =
    accepted && posts.slice(posts.indexOf(accepted)).find(({ number }) => number > accepted.number);
  if (further) problems.push(`attempt ${further.number} came after an accepted one`);
  return problems;
};

const findRowProblems = (row: AttemptRow, same: readonly Post[]): string[] => {
  const { number, completed, status } = row;
  if (!completed) return [`attempt ${number} was never completed`];
  if (status === null || same.some((post) => post.status === status)) return [];
  return [`attempt ${number} is recorded as ${status}, which was never answered`];
};

/** Measures from the end of the attempt before, however often that was sent. */
const findEarlyProblems = ([post]: readonly Post[], before: readonly Post[] = []): string[] => {
  const last = before.at(-1);
  if (!post || !last) return [];
  const waitedMs = post.at - (last.endedAt ?? last.at);
  const delayMs = delaysMs[last.number - 1] ?? 0;
  return waitedMs < delayMs - lateEndMs
    ? [`attempt ${post.number} came ${waitedMs} ms after the one before, not ${delayMs}`]
    : [];
};

/** The sender or Postgres went down before the attempt's result could be recorded. */
const isExcused = (
  { at, endedAt = at + deadlineMs, sender }: Post,
  { workers, postgres }: Disruptions,
): boolean => {
  const recordedAt = endedAt + recordMs;
  return (
    postgres.some(({ from, to }) => from < recordedAt && to > endedAt - lagMs) ||
    workers.some(
      // For an unknown sender, the death of any worker.
      ({ pid, at: diedAt }) =>
        (sender ?? pid) === pid && diedAt > at - lagMs && diedAt < recordedAt,
    )
  );
};
