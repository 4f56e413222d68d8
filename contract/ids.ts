import { encodeTime, ulid } from 'ulid';
import { v5 } from 'uuid';

const pool = new Uint8Array(4096);
let used = pool.length;

/**
 * A number from 0 to 1 out of a pool of the CSPRNG's bytes: asked for each of an id's 16 characters
 * by itself, it took a seventh of what a read costs. One byte gives the 5 bits of a character.
 */
const random = (): number => {
  if (used === pool.length) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  used += 1;
  return byte / 256;
};

/** Time-ordered, with 80 random bits: it appears in payer-facing URLs and must be unguessable. */
export const newPaymentId = (): string => `PAY_${ulid(undefined, random)}`;

/** Before every id of a payment that was made then or later. */
export const firstPaymentIdOf = (time: Date): string =>
  `PAY_${encodeTime(time.getTime())}${'0'.repeat(16)}`;

export const paymentIdPattern = /^PAY_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Names of applications and gateways, as admins give them. */
export const slugPattern = /^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/;

/** To which owner a gateway's credentials are bound: an application's secret does not open as theirs. */
export const credentialsOwner = (gateway: string): string => `gateway:${gateway}`;

export const newRequestId = (): string => `req_${ulid(undefined, random)}`;

export const requestIdPattern = /^req_[0-9A-HJKMNP-TV-Z]{26}$/;

const eventNamespace = 'd4c1b1f0-6f0e-4f5c-9d57-3a2c3f6a6b1e';

/** Derived from the payment, so that a replay or a reset can never make a second event. */
export const eventIdOf = (paymentId: string): string => v5(paymentId, eventNamespace);
