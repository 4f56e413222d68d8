import { createHash } from 'node:crypto';
import type { JsonNode } from '../../contract/json.ts';
import { canonicalText } from '../../contract/json.ts';
import { IdempotencyKey } from '../../contract/request-fields.ts';
import type { StoredResponse } from '../../postgres/idempotency-keys.ts';
import type { Refuse, RouteRequest } from '../http/route.ts';

/** Undefined for a request without a key. @throws PaymentError INVALID_IDEMPOTENCY_KEY */
export const readIdempotencyKey = (
  request: RouteRequest<'INVALID_IDEMPOTENCY_KEY'>,
): string | undefined => {
  const key = request.header('idempotency-key');
  if (key === undefined) return undefined;
  // `header` joins two keys into a third one, which no retry with either of them would find.
  if (request.headerLines('idempotency-key').length > 1)
    throw request.refuse('INVALID_IDEMPOTENCY_KEY', 'The Idempotency-Key must be given once.');
  if (!IdempotencyKey.safeParse(key).success) throw request.refuse('INVALID_IDEMPOTENCY_KEY');
  return key;
};

/** @param scope what else the request says, e.g. an id in its path */
export const fingerprintOf = (body: JsonNode, scope = ''): Buffer =>
  createHash('sha256').update(scope).update(canonicalText(body)).digest();

/** Repeats the stored response. @throws PaymentError IDEMPOTENCY_KEY_REUSED */
export const replay = (
  stored: StoredResponse,
  fingerprint: Buffer,
  refuse: Refuse<'IDEMPOTENCY_KEY_REUSED'>,
) => {
  if (!stored.fingerprint.equals(fingerprint)) throw refuse('IDEMPOTENCY_KEY_REUSED');
  const { location, body } = stored;
  // Only responses with 201 are stored.
  return { status: 201 as const, body, headers: { location, 'idempotent-replayed': 'true' } };
};
