import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import '../../support/runner/temporal-runtime.ts';

const folder = join(import.meta.dirname, '../../histories');
const histories = globSync('**/*.json', { cwd: folder }).sort();
/** Those of a workflow, in the folder of any version. */
const of = (name: string) => histories.filter((file) => basename(file).startsWith(`${name}-`));
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

const replay = (history: unknown) =>
  Worker.runReplayHistory(
    { workflowBundle: { code: readFileSync(inject('workflowBundle'), 'utf8') } },
    history,
  );

interface HistoryEvent {
  eventId: string;
  eventTime: string;
  timerStartedEventAttributes?: unknown;
}

/** A late payment whose second answer comes this many days after the first, and which ends with it. */
const endedAtTheSecondAnswer = (days: number) => {
  const timersIn = (events: readonly HistoryEvent[]) =>
    events.flatMap(({ timerStartedEventAttributes: timer }, index) => (timer ? [index] : []));
  const events = of('late-payment')
    .map((file) => (read(file) as { events: HistoryEvent[] }).events)
    .find((each) => timersIn(each).length > 1);
  const [first = 0, second = 0] = timersIn(events ?? []);
  const later = (time: string) => new Date(Date.parse(time) + days * 86_400_000).toISOString();
  const kept = (events ?? [])
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
  it.each([
    'payment',
    'late-payment',
    'refund',
    'sweeper',
    'compare-accounts',
    'compare-account-day',
  ])('contain the workflow %s', (name) => {
    expect(of(name)).not.toHaveLength(0);
  });

  it.each(histories)('still replay: %s', async (file) => {
    await expect(replay(read(file))).resolves.toBeUndefined();
  });

  it('do not replay if a workflow calls another activity', async () => {
    const [payment] = of('payment');
    const text = readFileSync(join(folder, payment!), 'utf8');
    const altered: unknown = JSON.parse(text.replaceAll('"openPayment"', '"openAccount"'));
    await expect(replay(altered)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

it('the late-payment workflow gives up after a day without a clear answer, and not sooner', async () => {
  await expect(replay(endedAtTheSecondAnswer(0))).rejects.toThrow(/[Nn]ondeterminism/);
  await expect(replay(endedAtTheSecondAnswer(1))).resolves.toBeUndefined();
});
