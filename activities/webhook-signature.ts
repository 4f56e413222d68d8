import { createHmac } from 'node:crypto';

/**
 * `X-Service-Signature`: HMAC-SHA256 over `<t>.<body>`, one v1 for each secret, in their order.
 * The key is the whole secret as it was shown, `whsec_` included.
 * @param timestamp Unix seconds
 */
export const signatureOf = (
  body: Buffer,
  secrets: readonly string[],
  timestamp: number,
): string => {
  const digests = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'),
  );
  return [`t=${timestamp}`, ...digests.map((digest) => `v1=${digest}`)].join(',');
};
