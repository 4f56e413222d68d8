import { createHmac } from 'node:crypto';
import type { EventKind } from '../contract/event.ts';

export interface Outgoing {
  event: { id: string; kind: EventKind; body: Buffer };
  /** From 1. It is in a header and not in the body, so the body of all attempts is the same. */
  attempt: number;
  /** The secrets that are valid now, the newer first. */
  secrets: readonly string[];
  /** Null: the request that caused the event had none. */
  traceparent: string | null;
  now: Date;
}

/**
 * The headers of one attempt, spelt as in the service interface, section 6.2: some receivers keep the case. Firewalls
 * count a request without `Accept` against its sender (OWASP core rule set, 920300).
 */
export const createHeaders = ({
  event,
  attempt,
  secrets,
  traceparent,
  now,
}: Outgoing): Record<string, string> => {
  const timestamp = Math.floor(now.getTime() / 1000);
  return {
    Accept: '*/*',
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    'X-Service-Event': event.kind,
    'X-Service-Event-Id': event.id,
    'X-Service-Timestamp': String(timestamp),
    'X-Service-Delivery-Attempt': String(attempt),
    'X-Service-Signature': sign(event.body, secrets, timestamp),
    ...(traceparent !== null && { traceparent }),
  };
};

/**
 * HMAC-SHA256 of `<t>.<body>`, one `v1` per secret, in their order. The key is the whole secret,
 * `whsec_` included.
 * @param timestamp Unix seconds
 */
const sign = (body: Buffer, secrets: readonly string[], timestamp: number): string => {
  const digests = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
  );
  return [`t=${timestamp}`, ...digests.map((digest) => `v1=${digest}`)].join(',');
};
