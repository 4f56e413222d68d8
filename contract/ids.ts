import { ulid } from 'ulid';
import { v5 } from 'uuid';

/** Time-ordered, with 80 random bits: it appears in payer-facing URLs and must be unguessable. */
export const newPaymentId = (): string => `PAY_${ulid()}`;

export const paymentIdPattern = /^PAY_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const newRequestId = (): string => `req_${ulid()}`;

const eventNamespace = 'd4c1b1f0-6f0e-4f5c-9d57-3a2c3f6a6b1e';

/** Derived from the payment, so that a replay or a reset can never make a second event. */
export const eventIdOf = (paymentId: string): string => v5(paymentId, eventNamespace);
