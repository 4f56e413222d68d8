import { z } from 'zod';
import { toWire } from './amount.ts';
import type { Call, HttpResponse } from './call.ts';
import { escapedPath, parseJson, parseResponse } from './call.ts';
import { describePayment } from './description.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  GatewayPayment,
  KnownRefund,
  Notification,
  OpenedPayment,
  OpenResult,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import { sentFields } from './payer.ts';
import { providerMessage } from './redact.ts';
import { stripeCurrencies } from './stripe-currencies.ts';
import { stripeLocaleOf } from './stripe-locales.ts';
import { toFailureCode } from './stripe-failures.ts';
import {
  Event,
  EventSession,
  Expired,
  Opened,
  Refusal,
  Reversed,
  Session,
  toStatus,
} from './stripe-responses.ts';
import { balancePath, bookPath, parseBalance, parseBook } from './stripe-book.ts';
import { disputesPath, disputeUrl, parseDisputeEvent, parseDisputes } from './stripe-disputes.ts';
import { parsePayout, parsePayoutLines, payoutLinesPath, payoutPath } from './stripe-payouts.ts';
import {
  parseRefund,
  parseRefundEvent,
  parseRefundRefusal,
  parseRefunds,
} from './stripe-refunds.ts';
import { isSignedByStripe } from './stripe-signature.ts';

const host = 'https://api.stripe.com';

/** Fixes the format of responses. Without it, each account has its own version. */
const version = '2026-10-28.endive';

/** A thousand refunds of a payment. All calls of a try have 20 seconds. */
const mostRefundPages = 10;

const capabilities: Capabilities = {
  currencies: stripeCurrencies,
  // Stripe's page lives 30 minutes to 24 hours. Our call of `expire` ends it at an earlier deadline.
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: false,
  // A refund takes at most 10 business days. From memory: https://docs.stripe.com/refunds.
  returnTime: { days: 14 },
  reportsFees: false,
  reportsReversals: true,
  reversal: null,
  refund: {
    partial: true,
    several: 'parallel',
    least: 1,
    windowMs: null,
    keyed: true,
    credentials: null,
  },
};

const Credentials = z.strictObject({
  secretKey: z.string().regex(/^[sr]k_(test|live)_[\x21-\x7e]{4,300}$/),
  baseUrl: z.string().optional(),
});

const NotificationSecrets = z.strictObject({
  /** Secrets of the notification endpoint: two during a rotation. */
  webhookSecrets: z
    .array(z.string().regex(/^whsec_[\x21-\x7e]{4,300}$/))
    .max(2)
    .default([]),
});

/** The two asynchronous types are from memory. Any of them only leads to an inquiry of the session. */
const sessionEvents = new Map<string, 'changed' | 'closed'>([
  ['checkout.session.completed', 'changed'],
  ['checkout.session.async_payment_succeeded', 'changed'],
  ['checkout.session.async_payment_failed', 'changed'],
  // Also the echo of our own call of `expire`.
  ['checkout.session.expired', 'closed'],
]);
const disputeEvent = /^charge\.dispute\.[a-z_]+$/;
const refundEvents = new Set(['refund.created', 'refund.updated', 'refund.failed']);

export const stripe = defineDriver({
  capabilities,
  credentials: Credentials,
  disputeUrl,
  parseReturn(query) {
    // A payer who returns by the cancel_url can still pay until Stripe has expired the session.
    const result = query.get('result');
    return result === 'paid' || result === 'cancelled' ? result : 'nothing';
  },
  notifications: {
    secrets: NotificationSecrets,
    parse({ header, body }, { kind, credentials: { webhookSecrets: secrets } }, now) {
      const signature = header('stripe-signature') ?? '';
      if (!isSignedByStripe({ signature, body }, { secrets, now })) return { result: 'rejected' };
      return parseEvent(body, kind);
    },
  },
  connect(account, tools): GatewayAdapter {
    const { kind } = account;
    const { now } = tools;
    const { send, retrieve } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment) => toStatus(await retrieve(payment));

    return {
      inquire,
      // One step: Stripe captures the money without a confirmation.
      verify: inquire,

      async open(payment) {
        const expiresAt = sessionExpiry(payment, now());
        const response = await send(
          'create',
          {
            method: 'POST',
            path: '/v1/checkout/sessions',
            form: toForm(payment, expiresAt),
          },
          // A second session is harmless: payers are sent to the recorded one.
          // Stripe refuses another body with the same key.
          keyOfMinute(
            now(),
            ['open', payment.id, expiresAt, ...Object.keys(payerFields(payment))].join(':'),
          ),
        );
        if (response.status !== 200) return parseOpeningRefusal(response);
        const session = parseResponse(Opened, response, 'stripe, create');
        if (!isOfKind(kind, session))
          return { result: 'refused', code: 'test_mode_guard', message: `Not a ${kind} session` };
        const { id, url } = session;
        return { result: 'opened', reference: id, redirect: { method: 'GET', url } };
      },

      async expire({ reference }) {
        const path = escapedPath`/v1/checkout/sessions/${reference}/expire`;
        const response = await send('expire', { method: 'POST', path, form: {} });
        if (response.status === 200) {
          parseResponse(Expired, response, 'stripe, expire');
          return true;
        }
        parseResponse(Refusal, response, 'stripe, expire');
        if (response.status === 400) return false;
        throw unexpected('expire', response);
      },

      async reverse(payment) {
        const { payment_intent: intent } = await retrieve(payment);
        if (!intent) return { result: 'refused', ...providerMessage(null, 'It was not paid') };
        const response = await send(
          'refund',
          {
            method: 'POST',
            path: '/v1/refunds',
            form: { payment_intent: intent.id, 'metadata[payment_id]': payment.id },
          },
          // Stripe refunds an intent once, with any key.
          keyOfMinute(now(), `reverse:${payment.id}`),
        );
        if (response.status !== 200) return parseRefundRefusal(response);
        const { status, payment_intent: of } = parseResponse(Reversed, response, 'stripe, refund');
        if (of !== intent.id)
          throw new GatewayUnavailable('stripe, refund: the response is about another payment');
        if (status === 'succeeded') return { result: 'reversed' };
        if (status === 'pending' || status === 'requires_action') return { result: 'pending' };
        return { result: 'refused', ...providerMessage(status, null) };
      },

      async refund(payment, { id, amount, timesTold, toldAt }) {
        const { payment_intent: intent } = await retrieve(payment);
        if (!intent)
          return {
            result: 'refused',
            failureCode: 'not_refundable',
            ...providerMessage(null, 'It was not paid'),
          };
        const { currency } = payment;
        const tell = (key: string) =>
          send(
            'refund',
            {
              method: 'POST',
              path: '/v1/refunds',
              form: {
                payment_intent: intent.id,
                amount: String(toWire(capabilities, { amount, currency })),
                // No `reason`: `fraudulent` blocks the payer's card and address.
                'metadata[payment_id]': payment.id,
                'metadata[refund_id]': id,
              },
              expectedStatuses: [500],
            },
            key,
          );
        const response = await tell(id);
        if (response.status !== 500) return parseRefund(response, intent.id);
        // Stripe repeats its own error to the key. The caller has found no such refund since.
        const isOld =
          timesTold > 0 && toldAt !== null && now().getTime() - toldAt.getTime() > 60_000;
        if (!isOld) throw unexpected('refund', response);
        return parseRefund(await tell(`${id}:2`), intent.id);
      },

      async refunds(payment) {
        const { payment_intent: intent } = await retrieve(payment);
        if (!intent) return [];
        const path = `/v1/refunds?payment_intent=${intent.id}&limit=100`;
        const all: KnownRefund[] = [];
        let after = '';
        for (let page = 1; page <= mostRefundPages; page += 1) {
          const response = await send('list_refunds', { method: 'GET', path: path + after });
          const { refunds, next } = parseRefunds(response, intent.id);
          all.push(...refunds);
          if (next === null) return all;
          after = `&starting_after=${next}`;
        }
        throw new GatewayUnavailable('stripe, refunds: the list is too long');
      },

      async disputes(payment) {
        const intent = payment.trackingCode ?? (await retrieve(payment)).payment_intent?.id;
        if (!intent) return [];
        const response = await send('list_disputes', { method: 'GET', path: disputesPath(intent) });
        return parseDisputes(response, intent);
      },

      async book(period, after) {
        return parseBook(await send('book', { method: 'GET', path: bookPath(period, after) }));
      },

      async balance() {
        return parseBalance(await send('balance', { method: 'GET', path: balancePath }));
      },

      async payout(id) {
        return parsePayout(await send('payout', { method: 'GET', path: payoutPath(id) }), id);
      },

      async payoutLines(id, after) {
        const path = payoutLinesPath(id, after);
        return parsePayoutLines(await send('payout_lines', { method: 'GET', path }));
      },
    };
  },
});

/** Stripe repeats its first response to a key, even its own errors, so each minute gets another key. */
const keyOfMinute = (now: Date, key: string) => `${key}:${Math.floor(now.getTime() / 60_000)}`;

type Kind = Account['kind'];
const modeOf = (kind: Kind) => (kind === 'sandbox' ? 'test' : 'live');

/** Test money never counts as live, nor the other way round, whichever key is used. */
const isOfKind = (kind: Kind, { id, livemode }: { id: string; livemode: boolean }) =>
  livemode === (kind === 'live') && id.startsWith(`cs_${modeOf(kind)}_`);

const createClient = (
  { kind, credentials }: Account<z.output<typeof Credentials>>,
  { callsTo }: Tools,
) => {
  const { secretKey, baseUrl } = credentials;
  if (secretKey.slice(3, 7) !== modeOf(kind))
    throw new AccountProblem(`The key does not belong to a ${kind} account`);
  const call = callsTo({ provider: 'stripe', baseUrl: host, override: baseUrl });

  const send = (
    operation: string,
    request: Omit<Call, 'headers' | 'operation'>,
    idempotencyKey?: string,
  ) =>
    call({
      operation,
      ...request,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'stripe-version': version,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
    });

  const retrieve = async ({ reference }: OpenedPayment) => {
    const session = escapedPath`/v1/checkout/sessions/${reference}`;
    const path = `${session}?expand[]=payment_intent.latest_charge.refunds`;
    const response = await send('retrieve', { method: 'GET', path });
    if (response.status !== 200) throw unexpected('retrieve', response);
    const found = parseResponse(Session, response, 'stripe, retrieve');
    if (!isOfKind(kind, found))
      throw new AccountProblem(`The session does not belong to a ${kind} account`);
    if (found.id !== reference)
      throw new GatewayUnavailable('stripe, retrieve: the response is about another session');
    return found;
  };
  return { send, retrieve };
};

const toForm = (payment: GatewayPayment, expiresAt: number): Record<string, string> => ({
  mode: 'payment',
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': payment.currency.toLowerCase(),
  'line_items[0][price_data][unit_amount]': String(toWire(capabilities, payment)),
  'line_items[0][price_data][product_data][name]': productName(payment),
  success_url: `${payment.returnUrl}?result=paid`,
  cancel_url: `${payment.returnUrl}?result=cancelled`,
  client_reference_id: payment.id,
  'metadata[payment_id]': payment.id,
  'payment_intent_data[metadata][payment_id]': payment.id,
  expires_at: String(expiresAt),
  // At the top of its page, instead of the name of the account.
  ...(payment.displayName && { 'branding_settings[display_name]': payment.displayName }),
  ...payerFields(payment),
});

/** No customer is made, which would keep the payer at Stripe. A locale that Stripe lacks leaves the choice to the browser. */
const payerFields = ({ payer }: GatewayPayment) =>
  sentFields({
    customer_email: payer?.email,
    locale: payer?.locale && (stripeLocaleOf(payer.locale) ?? 'auto'),
  });

/** Stripe once limited the name of a product to 250 characters. Spreading never cuts a code point. */
const productName = (payment: GatewayPayment): string =>
  [...describePayment(payment)].slice(0, 250).join('');

/**
 * The key is wrong or lacks the right, or the request cannot be carried out as it is. Any other error is no outcome: it may
 * pass on a retry. Source: https://docs.stripe.com/api/errors.
 * @throws GatewayUnavailable
 */
const parseOpeningRefusal = (response: HttpResponse): OpenResult => {
  const { status } = response;
  const { error } = parseResponse(Refusal, response, 'stripe, create');
  const isAboutUs = status === 401 || status === 403;
  if (!isAboutUs && (status !== 400 || error.type !== 'invalid_request_error'))
    throw unexpected('create', response);
  return {
    result: 'refused',
    ...providerMessage(error.code ?? error.type, error.message),
    ...(/^(?:customer_email|locale)$/.test(error.param ?? '') && { isAboutPayer: true }),
    ...(toFailureCode(error.code ?? null) === 'amount_not_accepted' && {
      failureCode: 'amount_not_accepted',
    }),
  };
};

/** Call it after the signature is checked. */
const parseEvent = (body: Buffer, kind: Kind): Notification => {
  const event = Event.safeParse(parseJson(body.toString('utf8'))).data;
  if (event && refundEvents.has(event.type) && event.livemode === (kind === 'live'))
    return parseRefundEvent(event.data.object);
  if (event && disputeEvent.test(event.type) && event.livemode === (kind === 'live'))
    return parseDisputeEvent(event.data.object);
  const result = event && sessionEvents.get(event.type);
  if (!result) return { result: 'ignored' };
  const session = EventSession.safeParse(event.data.object).data;
  if (!session || !isOfKind(kind, { id: session.id, livemode: event.livemode }))
    return { result: 'ignored' };
  const { id: reference, client_reference_id: paymentId = null } = session;
  return { result, reference, paymentId };
};

/** Unix seconds. Depends on the deadline alone where possible, so that a repeated create is the same. */
const sessionExpiry = ({ expiresAt }: { expiresAt: Date }, now: Date): number => {
  const deadline = Math.floor(expiresAt.getTime() / 1000);
  const leftSeconds = deadline - now.getTime() / 1000;
  // Stripe takes 30 minutes to 24 hours. One minute of tolerance covers the difference of the clocks.
  if (leftSeconds > 86_400 - 60) return deadline - 60;
  return leftSeconds < 31 * 60 ? deadline + 31 * 60 : deadline;
};

const unexpected = (operation: string, { status }: HttpResponse) =>
  new GatewayUnavailable(`stripe, ${operation}: unexpected response, HTTP ${status}`);
