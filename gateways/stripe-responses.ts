import { z } from 'zod';
import { fromWire } from './amount.ts';
import { GatewayUnavailable } from './errors.ts';
import type { GatewayStatus } from './gateway.ts';
import { failed } from './redact.ts';
import { stripeCurrencies } from './stripe-currencies.ts';
import { toFailureCode } from './stripe-failures.ts';

export const refundStatuses = [
  'pending',
  'requires_action',
  'succeeded',
  'failed',
  'canceled',
] as const;
const SessionId = z.string().regex(/^cs_(test|live)_[A-Za-z0-9]{1,200}$/);
export const IntentId = z.string().regex(/^pi_[A-Za-z0-9_]{1,200}$/);
const Intent = z.object({
  id: IntentId,
  status: z.string(),
  last_payment_error: z
    .object({
      code: z.string().nullish(),
      decline_code: z.string().nullish(),
      message: z.string().nullish(),
    })
    .nullish(),
  latest_charge: z
    .object({
      refunds: z.object({
        data: z.array(z.object({ amount: z.int(), status: z.enum(refundStatuses) })),
      }),
    })
    .nullish(),
});
export const Session = z.object({
  id: SessionId,
  livemode: z.boolean(),
  status: z.enum(['open', 'complete', 'expired']),
  payment_status: z.enum(['paid', 'unpaid']),
  amount_total: z.int().positive(),
  currency: z.string().regex(/^[a-z]{3}$/),
  client_reference_id: z.string().nullish(),
  payment_intent: Intent.nullish(),
});
export const Opened = z.object({ id: SessionId, livemode: z.boolean(), url: z.url() });
export const Expired = z.object({ status: z.literal('expired') });
export const Reversed = z.object({
  status: z.enum(refundStatuses),
  payment_intent: z.string().nullish(),
});
export const Refusal = z.object({
  error: z.object({
    type: z.string(),
    code: z.string().nullish(),
    param: z.string().nullish(),
    message: z.string().nullish(),
  }),
});
export const Event = z.object({
  livemode: z.boolean(),
  type: z.string(),
  data: z.object({ object: z.unknown() }),
});
export const EventSession = z.object({ id: SessionId, client_reference_id: z.string().nullish() });

/** @throws GatewayUnavailable for a session that contradicts itself */
export const toStatus = (session: z.output<typeof Session>): GatewayStatus => {
  const { status, payment_status: paymentStatus, payment_intent: intent } = session;
  if (status === 'expired') return { state: 'expired' };
  if (paymentStatus === 'unpaid') {
    if (status === 'open') return { state: 'waiting' };
    // Complete and unpaid: a slow payment method, unless the intent reports its failure.
    const hasFailed = intent?.status === 'requires_payment_method' || intent?.status === 'canceled';
    if (!hasFailed) return { state: 'processing' };
    const error = intent.last_payment_error;
    const code = error?.decline_code ?? error?.code ?? null;
    return failed(toFailureCode(code), code, error?.message);
  }
  if (status !== 'complete' || !intent)
    throw new GatewayUnavailable(
      'stripe, retrieve: paid, but not complete or without a payment intent',
    );
  // Only a refund that succeeded has returned the money; one that fails leaves it with us.
  const refunded = (...of: string[]) =>
    (intent.latest_charge?.refunds.data ?? [])
      .filter((refund) => of.includes(refund.status))
      .reduce((sum, { amount }) => sum + amount, 0);
  if (refunded('succeeded') >= session.amount_total)
    return { ...failed('payment_reversed', 'refunded'), trackingCode: intent.id };
  if (refunded('succeeded', 'pending', 'requires_action') >= session.amount_total)
    return { state: 'processing' };
  const currency = session.currency.toUpperCase();
  return {
    state: 'paid',
    amount: fromWire({ currencies: stripeCurrencies }, { amount: session.amount_total, currency }),
    currency,
    trackingCode: intent.id,
    // Stripe sends the last four digits only.
    cardPanMasked: null,
  };
};
