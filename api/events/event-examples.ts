import type { EventListResponse, EventResponse } from '../../contract/event-responses.ts';
import { eventExamples } from '../payments/payment-examples.ts';

const { event, event_id, created_at, payment_id, order_id, test } = eventExamples.failed;
const summary = {
  event_id,
  event,
  created_at,
  payment_id,
  order_id,
  test,
  delivery: {
    status: 'exhausted',
    round: 1,
    attempts_left: 0,
    next_attempt_at: null,
    delivered_at: null,
  },
  links: {
    payment: `https://pay.example/api/v1/payments/${payment_id}`,
    replay: `https://pay.example/api/v1/events/${event_id}/replay`,
  },
};

const refused = {
  round: 1,
  trigger: 'schedule',
  duration_ms: 87,
  response_status: 500,
  error: 'http_status',
  response_body: 'Internal Server Error',
  response_truncated: false,
};

export const exhaustedEvent: EventResponse = {
  ...summary,
  payload: eventExamples.failed,
  attempts: [
    {
      ...refused,
      number: 1,
      started_at: '2026-11-20T10:44:02.601+00:00',
      completed_at: '2026-11-20T10:44:02.688+00:00',
    },
    {
      ...refused,
      number: 2,
      started_at: '2026-11-20T10:45:02.701+00:00',
      completed_at: '2026-11-20T10:45:02.788+00:00',
    },
  ],
};

export const replayedEvent: EventResponse = {
  ...exhaustedEvent,
  delivery: {
    status: 'pending',
    round: 2,
    attempts_left: 6,
    next_attempt_at: '2026-11-21T09:12:40.011+00:00',
    delivered_at: null,
  },
  links: { ...summary.links, replay: null },
};

export const exampleEvents = {
  data: [summary],
  pagination: {
    per_page: 20,
    has_more: false,
    next_cursor: null,
  },
} satisfies EventListResponse;

export const exampleEventsWithPayload = {
  ...exampleEvents,
  data: [{ ...summary, payload: eventExamples.failed }],
} satisfies EventListResponse;
