import { expect, it } from 'vitest';
import {
  type HistoryEvent,
  isOpen,
  stepsOf,
  toText,
  typeOf,
  waitsOf,
} from '../../../tools/history-file.ts';

const payload = (value: unknown) => ({
  payloads: [{ data: Buffer.from(JSON.stringify(value)).toString('base64') }],
});
const event = (type: string, eventId: string, attributes: object = {}): HistoryEvent =>
  ({ eventId, eventType: `EVENT_TYPE_${type}`, someEventAttributes: attributes }) as HistoryEvent;

/** An activity with the id of its first event. */
const activity = (id: number, name: string, result: unknown, attempt = 1) => [
  event('ACTIVITY_TASK_SCHEDULED', `${id}`, { activityType: { name } }),
  event('ACTIVITY_TASK_STARTED', `${id + 1}`, { scheduledEventId: `${id}`, attempt }),
  event('ACTIVITY_TASK_COMPLETED', `${id + 2}`, {
    scheduledEventId: `${id}`,
    result: payload(result),
  }),
];
const started = event('WORKFLOW_EXECUTION_STARTED', '1', { workflowType: { name: 'refund' } });

it('the steps of a history are its activities with their results, and what came from outside', () => {
  const events = [
    started,
    event('WORKFLOW_TASK_SCHEDULED', '2'),
    ...activity(3, 'verifyPayment', { kind: 'waiting' }),
    event('TIMER_STARTED', '6'),
    event('TIMER_FIRED', '7'),
    event('WORKFLOW_EXECUTION_SIGNALED', '8', { signalName: 'recheck' }),
    ...activity(9, 'deliverWebhook', 'delivered'),
  ];
  expect(typeOf(events)).toBe('refund');
  expect(stepsOf(events)).toEqual([
    'verify-payment-waiting',
    'timer',
    'signal-recheck',
    'deliver-webhook-delivered',
  ]);
});

it('histories with other ids and times are alike, and one with a second try is not', () => {
  const once = stepsOf([started, ...activity(2, 'refundPayment', { events: ['a'] })]);
  const alike = stepsOf([started, ...activity(5, 'refundPayment', { events: ['b'] })]);
  const twice = stepsOf([started, ...activity(2, 'refundPayment', { events: ['a'] }, 2)]);
  expect(alike).toEqual(once);
  expect(twice).not.toEqual(once);
});

it('a workflow waits for what has not come back, also after it has asked to cancel it', () => {
  const events = [
    started,
    ...activity(2, 'verifyPayment', { kind: 'waiting' }),
    event('ACTIVITY_TASK_SCHEDULED', '5', { activityType: { name: 'deliverWebhook' } }),
    event('ACTIVITY_TASK_CANCEL_REQUESTED', '6', { scheduledEventId: '5' }),
  ];
  expect(isOpen(events)).toBe(true);
  expect(waitsOf(events).pending).toEqual(['activity deliverWebhook']);
  expect(isOpen([...events, event('WORKFLOW_EXECUTION_FAILED', '7')])).toBe(false);
});

it('a history has one event a line', () => {
  const text = toText([started, ...activity(2, 'refundPayment', null)]);
  expect(text.trimEnd().split('\n')).toHaveLength(6);
  expect(JSON.parse(text)).toMatchObject({ events: [{ eventId: '1' }, {}, {}, {}] });
});
