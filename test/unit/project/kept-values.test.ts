import { expect, it } from 'vitest';
import {
  createFingerprints,
  fingerprintOf,
  storedKeyOf,
} from '../../../api/payments/idempotency.ts';
import {
  disputeEventId,
  disputeId,
  eventId,
  linkEventId,
  refundEventId,
  refundId,
} from '../../../contract/ids.ts';
import { parseJson } from '../../../contract/json.ts';
import { linkCursors } from '../../../contract/links/list.ts';
import { disputeCursors } from '../../../contract/list-disputes.ts';
import { eventCursors, hashFilters } from '../../../contract/list-events.ts';
import { movementCursors } from '../../../contract/list-movements.ts';
import { paymentCursors } from '../../../contract/list-payments.ts';
import { refundCursors } from '../../../contract/list-refunds.ts';
import { tokenIdOf } from '../../../postgres/applications/tokens.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { accountDayWorkflowId } from '../../../temporal/messages.ts';
import { eventWorkflowId, latePaymentWorkflowId } from '../../../temporal/start-options.ts';

const payment = 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
const refund = 'REFUND_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
const dispute = 'DISPUTE_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
const link = 'LNK_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
const event = '9d413a4a-9bbb-5a2a-abff-29c92712128f';
const at = new Date('2026-11-30T09:00:00.123Z');
const ring = { currentId: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) };
const body = parseJson('{"order_id": "1", "amount": 1.0e3, "metadata": {"b": null, "a": "é"}}');

const made = {
  'the event of a payment': eventId(payment),
  'the event of a link': linkEventId(link),
  'the event of a refund': refundEventId(refund, 'refund.succeeded'),
  'the event of a dispute': disputeEventId(dispute, 2, 'dispute.updated'),
  'a refund': refundId(['shop', 'false', 'key-1']),
  'a dispute': disputeId('stripe', 'dp_1'),
  'the workflow of an event': eventWorkflowId(event),
  'the workflow of a late payment': latePaymentWorkflowId(payment),
  'the workflow of a day': accountDayWorkflowId({ gateway: 'stripe', day: '2026-11-30' }),
  'the key of a retry': storedKeyOf('order-1-try-1'),
  'the body of a retried create': createFingerprints(ring)(body)[0]?.toString('hex'),
  'the body of a retried refund': fingerprintOf(body, payment).toString('hex'),
  'the id of a token': tokenIdOf('live_token'),
  'a cursor of payments': paymentCursors.format({ at, id: payment }),
  'a cursor of movements': movementCursors.format({ at, id: `captured:${payment}` }),
  'a cursor of refunds': refundCursors.format({ at, id: refund }),
  'a cursor of disputes': disputeCursors.format({ at, id: dispute }),
  'a cursor of links': linkCursors.format({ at, id: link }),
  'a cursor of the feed': eventCursors.format({
    at,
    id: event,
    filters: hashFilters({ order: 'asc' }),
  }),
};

/**
 * Values that 1.0.0 writes into databases, or gives to applications, which keep them. A later version that calculates another value doubles
 * an event or a refund, refuses a retry or a cursor, or loses a token. So none of these lines may change.
 */
const kept: typeof made = {
  'the event of a payment': '9d413a4a-9bbb-5a2a-abff-29c92712128f',
  'the event of a link': '79bcdfee-cbc1-52c4-93f1-775347917b7e',
  'the event of a refund': '58bda9f3-0db8-5dcb-852b-7713ad3635aa',
  'the event of a dispute': 'a4f70db9-0b44-53a5-bf52-f10da56d3f81',
  'a refund': 'REFUND_0WQHG4Z9KZA73T60PBE5H7D62Y',
  'a dispute': 'DISPUTE_28T0SJ9G4BB88A09JWV3R7CNKV',
  'the workflow of an event': 'EVENT_9d413a4a-9bbb-5a2a-abff-29c92712128f',
  'the workflow of a late payment': 'LATE_PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  'the workflow of a day': 'ACCOUNT_stripe_2026-11-30',
  'the key of a retry': 'T6LQnIrBd1Laxn6WQ4jxbGJ2Wsmzb-eKknhhDl7relM',
  'the body of a retried create':
    '85ae2e3c56da15773ff70f7b643a1b8a0f1654df9a2a5593abc2cb73b8c01373',
  'the body of a retried refund':
    '45374c5c5af5ba556822090d4616ee7b108b88c34370377aec15cdeb26d902ad',
  'the id of a token': '013dcd3511a57439',
  'a cursor of payments': 'MToxNzk2MDI5MjAwMTIzOlBBWV8wMUs5WjVXNlg3WThaQUJDREVGR0hKS01OUA',
  'a cursor of movements':
    'bTEgMTc5NjAyOTIwMDEyMyBjYXB0dXJlZDpQQVlfMDFLOVo1VzZYN1k4WkFCQ0RFRkdISktNTlA',
  'a cursor of refunds': 'cjE6MTc5NjAyOTIwMDEyMzpSRUZVTkRfMDFLOVo1VzZYN1k4WkFCQ0RFRkdISktNTlA',
  'a cursor of disputes': 'ZDE6MTc5NjAyOTIwMDEyMzpESVNQVVRFXzAxSzlaNVc2WDdZOFpBQkNERUZHSEpLTU5Q',
  'a cursor of links': 'bDE6MTc5NjAyOTIwMDEyMzpMTktfMDFLOVo1VzZYN1k4WkFCQ0RFRkdISktNTlA',
  'a cursor of the feed':
    'ZTE6MTc5NjAyOTIwMDEyMzo5ZDQxM2E0YS05YmJiLTVhMmEtYWJmZi0yOWM5MjcxMjEyOGY6YjFhN2IyODM',
};

it.each(Object.keys(made) as (keyof typeof made)[])('%s stays in every version', (name) =>
  expect(made[name]).toBe(kept[name]),
);

it('opens what 1.0.0 has sealed', () => {
  const sealed = 'v1.k1.8ibzUlSlGS9OgKOwTogLXyq15WkEmuKgffgdghpAGHqyG5J6sw';
  expect(createSecretBox(ring).open(sealed, 'gateway:stripe')).toBe('sk_test_1');
});
