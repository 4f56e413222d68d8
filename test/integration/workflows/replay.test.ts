import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: 'OFF' } },
});

const folder = join(import.meta.dirname, '../../histories');
const histories = globSync('**/*.json', { cwd: folder }).sort();
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

/** A search that was told two times to ask again, so many days apart, and ended with that. */
const endedAtTheSecondAnswer = (days: number) => {
  const searches = histories
    .filter((file) => file.includes('/late-'))
    .map((file) => (read(file) as { events: HistoryEvent[] }).events);
  const timersOf = (events: readonly HistoryEvent[]) =>
    events.flatMap(({ timerStartedEventAttributes: timer }, index) => (timer ? [index] : []));
  const events = searches.find((one) => timersOf(one).length > 1) ?? [];
  const [first = 0, second = 0] = timersOf(events);
  const later = (time: string) => new Date(Date.parse(time) + days * 86_400_000).toISOString();
  const told = events
    .slice(0, second)
    .map((event, index) =>
      index > first ? { ...event, eventTime: later(event.eventTime) } : event,
    );
  const last = told.at(-1);
  const end = {
    eventId: String(Number(last?.eventId) + 1),
    eventTime: last?.eventTime,
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED',
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: last?.eventId },
  };
  return { events: [...told, end] };
};

describe('the workflows of today', () => {
  it('are tried on a history of each workflow', () => {
    for (const type of ['payment', 'late', 'sweep'])
      expect(histories.filter((file) => file.includes(`/${type}-`))).not.toHaveLength(0);
  });

  it.each(histories)('still replay %s', async (file) => {
    await expect(replay(read(file))).resolves.toBeUndefined();
  });

  it('would be refused when they schedule another activity than they did', async () => {
    const [payment] = histories.filter((file) => file.includes('/payment-'));
    const text = readFileSync(join(folder, payment!), 'utf8');
    const altered: unknown = JSON.parse(text.replaceAll('"openPayment"', '"openAccount"'));
    await expect(replay(altered)).rejects.toThrow(/[Nn]ondeterminism/);
  });

  it('FS-16: end a search for late money after a day, and not sooner, whatever is answered then', async () => {
    await expect(replay(endedAtTheSecondAnswer(0))).rejects.toThrow(/[Nn]ondeterminism/);
    await expect(replay(endedAtTheSecondAnswer(1))).resolves.toBeUndefined();
  });
});
