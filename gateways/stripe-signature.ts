import { createHmac, timingSafeEqual } from 'node:crypto';

/** Both ways: a clock of ours that is slow would otherwise take tomorrow's message for today's. */
const toleranceSeconds = 300;

/** Whether Stripe signed these bytes with one of the secrets, lately. `t=…,v1=…[,v1=…]`. */
export const isSignedByStripe = (
  { signature, body }: { signature: string; body: Buffer },
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean => {
  const parts = signature.split(',', 20).map((part) => part.trim());
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (!/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds) return false;
  const given = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'));
  return secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
    return given.some((one) => timingSafeEqual(one, digest));
  });
};
