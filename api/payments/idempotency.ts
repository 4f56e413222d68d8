import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { JsonNode } from '../../contract/json.ts';
import { canonicalText } from '../../contract/json.ts';
import { IdempotencyKey } from '../../contract/request-fields.ts';
import type { StoredResponse } from '../../postgres/payments/idempotency-keys.ts';
import type { KeyRing } from '../../postgres/secrets/secret-box.ts';
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

/** People write names and numbers of cards into keys, so a row has this hash. */
export const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** The hash as a payment's row has it. */
export const storedKeyOf = (key: string): string => hashKey(key).toString('base64url');

/**
 * The fingerprints of a body that may hold a payer's mobile number: everybody who has a plain hash could try all numbers.
 * @returns the function that makes one with each key; the first is stored, and each of them may be stored already
 */
export const createFingerprints = ({ currentId, keys }: KeyRing) => {
  const ids = [currentId, ...[...keys.keys()].filter((id) => id !== currentId)];
  const macKeys = ids.map((id) =>
    Buffer.from(hkdfSync('sha256', keys.get(id) ?? '', '', 'fingerprints of creates', 32)),
  );
  return (body: JsonNode): Buffer[] => {
    const text = canonicalText(body);
    return macKeys.map((key) => createHmac('sha256', key).update(text).digest());
  };
};
export type Fingerprints = ReturnType<typeof createFingerprints>;

/**
 * The fingerprint of a body without a payer, all of which its row has in the clear. It is kept as long as the row, which is
 * longer than any key.
 * @param scope what else the request says, e.g. an id in its path
 */
export const fingerprintOf = (body: JsonNode, scope = ''): Buffer =>
  createHash('sha256').update(scope).update(canonicalText(body)).digest();

/**
 * Repeats the stored response.
 * @param fingerprints of the request: one with each key
 * @throws PaymentError IDEMPOTENCY_KEY_REUSED
 */
export const replay = (
  stored: StoredResponse,
  fingerprints: readonly Buffer[],
  refuse: Refuse<'IDEMPOTENCY_KEY_REUSED'>,
) => {
  if (!fingerprints.some((each) => stored.fingerprint.equals(each)))
    throw refuse('IDEMPOTENCY_KEY_REUSED');
  const { location, body } = stored;
  // Only responses with 201 are stored.
  return { status: 201 as const, body, headers: { location, 'idempotent-replayed': 'true' } };
};
