import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  /** The value of `X-Service-Signature`, as it came. */
  header: string | undefined;
  /** The bytes of the body as they came: read them before any JSON parsing. */
  rawBody: Uint8Array;
  /** The whole webhook secret as it was shown to you, `whsec_` included. */
  secret: string;
  /** When the request came; now, unless a test says otherwise. */
  receivedAt?: Date;
}

export type Verification = { valid: true } | { valid: false; reason: string };

/** How far the sender's clock and ours may be apart, in both directions. */
const toleranceSeconds = 300;

/**
 * Whether a webhook was sent by the payment service, just now, with exactly this body; where it was
 * not, why. The receiver to copy is the one in docs/webhooks.md.
 */
export const verifySignature = ({
  header,
  rawBody,
  secret,
  receivedAt = new Date(),
}: SignedRequest): Verification => {
  // Without a key everybody could sign.
  if (secret === '') throw new Error('The webhook secret is empty');
  const parsed = parseHeader(header);
  if (!parsed) return invalid('The X-Service-Signature header is missing or malformed.');

  // Whole seconds, like the timestamp. A clock that runs ahead is as suspicious as an old request.
  const nowSeconds = Math.floor(receivedAt.getTime() / 1000);
  if (Math.abs(nowSeconds - Number(parsed.timestamp)) > toleranceSeconds)
    return invalid(`The timestamp is more than ${toleranceSeconds} seconds away from now.`);

  const expected = createHmac('sha256', secret)
    .update(`${parsed.timestamp}.`)
    .update(rawBody)
    .digest('hex');
  // Two signatures come while the secret is being rotated: one that matches is enough.
  return parsed.signatures.some((signature) => equalInConstantTime(signature, expected))
    ? { valid: true }
    : invalid('No signature in the header matches the body and the secret.');
};

const invalid = (reason: string): Verification => ({ valid: false, reason });

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; parts of other schemes are passed over. */
const parseHeader = (header: string | undefined) => {
  const parts = (header ?? '').split(',').map((part) => {
    const at = part.indexOf('=');
    return { name: part.slice(0, Math.max(at, 0)), value: part.slice(at + 1) };
  });
  const valuesOf = (name: string) =>
    parts.filter((part) => part.name === name).map((part) => part.value);
  const [timestamp, secondTimestamp] = valuesOf('t');
  const signatures = valuesOf('v1');
  if (timestamp === undefined || secondTimestamp !== undefined || signatures.length === 0)
    return undefined;
  return /^\d{1,12}$/.test(timestamp) ? { timestamp, signatures } : undefined;
};

/** Comparing with `===` would tell by its duration how many characters were right. */
const equalInConstantTime = (left: string, right: string): boolean => {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
};
