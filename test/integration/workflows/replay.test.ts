import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import '../../support/runner/temporal-runtime.ts';

const folder = join(import.meta.dirname, '../../histories');
const histories = globSync('**/*.json', { cwd: folder }).sort();
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

const workflowBundle = { code: readFileSync(inject('workflowBundle'), 'utf8') };
/** The SDK wraps its own sentence in several others. */
const reasonOf = ({ message }: Error) => /\[TMPRL\d+\] [^"\\]+/.exec(message)?.[0] ?? message;
const replay = (history: unknown) => Worker.runReplayHistory({ workflowBundle }, history);

interface HistoryEvent {
  eventId: string;
  eventTime: string;
  timerStartedEventAttributes?: unknown;
}

/** A late payment whose second answer comes this many days after the first, and which ends with it. */
const endedAtTheSecondAnswer = (days: number) => {
  const timersIn = (events: readonly HistoryEvent[]) =>
    events.flatMap(({ timerStartedEventAttributes: timer }, index) => (timer ? [index] : []));
  const { events } = read('1.0.0/late-payment-without-a-clear-answer.json') as {
    events: HistoryEvent[];
  };
  const [first = 0, second = 0] = timersIn(events);
  const later = (time: string) => new Date(Date.parse(time) + days * 86_400_000).toISOString();
  const kept = events
    .slice(0, second)
    .map((event, index) =>
      index > first ? { ...event, eventTime: later(event.eventTime) } : event,
    );
  const last = kept.at(-1);
  const end = {
    eventId: String(Number(last?.eventId) + 1),
    eventTime: last?.eventTime,
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED',
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: last?.eventId },
  };
  return { events: [...kept, end] };
};

describe('the saved histories', () => {
  it('all replay', async () => {
    const items = histories.map((file) => ({ workflowId: file, history: read(file) }));
    const failed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, items))
      if (error) failed.push(`${workflowId}: ${reasonOf(error)}`);
    expect(
      failed,
      'Open workflows like these would stop. Put the change behind patched(), and leave the histories as they are: docs/operating/changing-workflows.md has the rules.',
    ).toEqual([]);
  });

  it('do not replay if a workflow calls another activity', async () => {
    const text = readFileSync(join(folder, '1.0.0/payment-paid.json'), 'utf8');
    const altered: unknown = JSON.parse(text.replaceAll('"openPayment"', '"openAccount"'));
    await expect(replay(altered)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

it('the late-payment workflow gives up after a day without a clear answer, and not sooner', async () => {
  await expect(replay(endedAtTheSecondAnswer(0))).rejects.toThrow(/[Nn]ondeterminism/);
  await expect(replay(endedAtTheSecondAnswer(1))).resolves.toBeUndefined();
});
