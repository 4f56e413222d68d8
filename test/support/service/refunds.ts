import { until } from '../until.ts';
import { answered, type Journey } from './journey.ts';

let keys = 0;
/** A key that no other request of this file has. */
export const newKey = (): string => `key-${(keys += 1)}`;

/** Asks for a refund, by default of everything that is left, with a key of its own, until there is an answer. */
export const refund = (journey: Journey, paymentId: string, body: object = {}, key = newKey()) =>
  answered(() =>
    journey.request('POST', `/api/v1/payments/${paymentId}/refunds`, body, {
      'idempotency-key': key,
    }),
  );

export const getRefund = (journey: Journey, id: string) =>
  journey.request('GET', `/api/v1/refunds/${id}`);

/** Waits until the refund has this status, and returns it. */
export const refundBecomes = (journey: Journey, id: string, status: string) =>
  until(`${id} is ${status}`, async () => {
    const { json } = await getRefund(journey, id);
    return json['status'] === status && json;
  });
