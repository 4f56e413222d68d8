import { createHmac, timingSafeEqual } from 'node:crypto';

/** In both directions: with a slow clock we would otherwise accept a message from the future. */
const toleranceSeconds = 300;

/** True if Stripe signed this body with one of the secrets recently. Header: `t=…,v1=…[,v1=…]`. */
export const isSignedByStripe = (
  { signature, body }: { signature: string; body: Buffer },
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean => {
  const parts = signature.split(',', 20).map((part) => part.trim());
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (!/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds) return false;
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'));
  return secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
    return signatures.some((each) => timingSafeEqual(each, digest));
  });
};
