import { linkEventId } from '../../contract/ids.ts';
import { LinkEventBody } from '../../contract/links/event-schema.ts';
import type { LinkResponse } from '../../contract/links/responses.ts';
import { eventExamples, paymentExamples } from '../payments/payment-examples.ts';

const { application, order_id, amount, currency, test } = paymentExamples.pending;
const link_id = 'LNK_01J8ZK3V7Q9XW2M4N6P8R0T1AB';

const open: LinkResponse = {
  link_id,
  application,
  order_id,
  status: 'open',
  amount,
  currency,
  description: 'Invoice 2026-117',
  locale: null,
  url: `https://pay.example/api/v1/links/${link_id}/pay`,
  payment_id: null,
  test,
  expires_at: '2024-10-30T10:00:00.000+00:00',
  created_at: '2024-09-30T10:00:00.000+00:00',
  paid_at: null,
  disabled_at: null,
};

/** Links as the documentation shows them. */
export const linkExamples = {
  open,
  paid: {
    ...open,
    status: 'paid',
    payment_id: paymentExamples.pending.payment_id,
    paid_at: '2024-10-01T08:00:00.000+00:00',
  },
} satisfies Record<string, LinkResponse>;

const event_id = linkEventId(link_id);

/** Their events. */
export const linkEventExamples = {
  paid: LinkEventBody.parse({ ...eventExamples.paid, event: 'link.paid', event_id, link_id }),
  expired: LinkEventBody.parse({
    ...eventExamples.paid,
    ...{ event: 'link.expired', event_id, link_id, status: 'expired' },
    ...{ tracking_code: null, card_pan_masked: null, paid_at: null, metadata: {} },
  }),
} satisfies Record<string, LinkEventBody>;
