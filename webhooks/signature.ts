import { createHmac } from 'node:crypto';
import type { EventKind } from '../contract/event.ts';

/**
 * `X-Service-Signature`: HMAC-SHA256 over `<t>.<body>`, one v1 for each secret, in their order.
 * The key is the whole secret as it was shown, `whsec_` included.
 * @param timestamp Unix seconds
 */
const signatureOf = (body: Buffer, secrets: readonly string[], timestamp: number): string => {
  const digests = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
  );
  return [`t=${timestamp}`, ...digests.map((digest) => `v1=${digest}`)].join(',');
};

export interface Outgoing {
  event: { id: string; kind: EventKind; body: Buffer };
  /** From 1; it is in no other place, so that the body stays the same. */
  attempt: number;
  /** Those valid now, the newer first. */
  secrets: readonly string[];
  now: Date;
}

/** The headers of one attempt: source document, section 6.2. */
export const headersOf = ({ event, attempt, secrets, now }: Outgoing): Record<string, string> => {
  const timestamp = Math.floor(now.getTime() / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-service-event': event.kind,
    'x-service-event-id': event.id,
    'x-service-timestamp': String(timestamp),
    'x-service-delivery-attempt': String(attempt),
    'x-service-signature': signatureOf(event.body, secrets, timestamp),
  };
};
