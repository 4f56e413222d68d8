import { z } from 'zod';
import { toWire } from './amount.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  GatewayPayment,
  Notification,
  OpenedPayment,
  Opening,
  Tools,
} from './gateway.ts';
import { AccountProblem, defineDriver, GatewayUnavailable } from './gateway.ts';
import type { Call, HttpAnswer } from './call.ts';
import { jsonIn, pathOf, read } from './call.ts';
import {
  Event,
  EventSession,
  Opened,
  Refund,
  Refusal,
  Session,
  toAnswer,
} from './stripe-answers.ts';
import { stripeCurrencies } from './stripe-currencies.ts';
import { isSignedByStripe } from './stripe-signature.ts';
import { wordsOf } from './redact.ts';

const host = 'https://api.stripe.com';

/** Which shapes it answers in; without it, that is a setting of each account. */
const version = '2026-10-28.endive';

const capabilities: Capabilities = {
  currencies: stripeCurrencies,
  // Its own page lives 30 minutes to 24 hours; a shorter deadline is kept by our expire call.
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: false,
  tellsReversal: true,
};

const Credentials = z.strictObject({
  secretKey: z.string().regex(/^[sr]k_(test|live)_[\x21-\x7e]{4,300}$/),
  /** Of the notification endpoint; two while one replaces the other. */
  webhookSecrets: z
    .array(z.string().regex(/^whsec_[\x21-\x7e]{4,300}$/))
    .max(2)
    .default([]),
  baseUrl: z.string().optional(),
});

/** The two asynchronous ones are from memory; whatever comes, the session itself is asked. */
const news = new Set(
  ['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired'].map(
    (name) => `checkout.session.${name}`,
  ),
);

export const stripe = defineDriver({
  capabilities,
  credentials: Credentials,
  parseReturn(query) {
    // Who came by the cancel_url has cancelled only once Stripe has let us expire the session.
    const says = query.get('says');
    return says === 'paid' || says === 'cancelled' ? says : 'nothing';
  },
  parseNotification({ header, body }, { kind, credentials }, now) {
    const signature = header('stripe-signature') ?? '';
    const { webhookSecrets: secrets } = credentials;
    if (!isSignedByStripe({ signature, body }, { secrets, now })) return { result: 'refused' };
    return newsIn(body, kind);
  },
  connect(account, tools): GatewayAdapter {
    const { kind } = account;
    const { now } = tools;
    const { ask, retrieve } = createClient(account, tools);
    const inquire = async (payment: OpenedPayment) => toAnswer(await retrieve(payment));

    return {
      inquire,
      // Nothing is to be confirmed: Stripe takes the money by itself.
      verify: inquire,

      async open(payment) {
        const expiresAt = expiryOf(payment, now());
        const answer = await ask(
          'create',
          {
            method: 'POST',
            path: '/v1/checkout/sessions',
            form: formOf(payment, expiresAt),
          },
          // A second session harms nobody, as payers are sent to the one that is recorded.
          keyAt(now(), `open:${payment.id}:${expiresAt}`),
        );
        if (answer.status !== 200) return refusalOf(answer);
        const session = read(Opened, answer, 'stripe, create');
        if (!isOfKind(kind, session))
          return { result: 'refused', code: 'test_mode_guard', message: `Not a ${kind} session` };
        const { id, url } = session;
        return { result: 'opened', reference: id, redirect: { method: 'GET', url } };
      },

      async expire({ reference }) {
        const path = pathOf`/v1/checkout/sessions/${reference}/expire`;
        const answer = await ask('expire', { method: 'POST', path, form: {} });
        if (answer.status === 200) return true;
        read(Refusal, answer, 'stripe, expire');
        if (answer.status === 400) return false;
        throw refused('expire', answer);
      },

      async reverse(payment) {
        const { payment_intent: intent } = await retrieve(payment);
        if (!intent) return { result: 'refused', ...wordsOf(null, 'It was not paid') };
        const answer = await ask(
          'refund',
          { method: 'POST', path: '/v1/refunds', form: { payment_intent: intent.id } },
          // What was refunded whole is refunded no second time, whatever the key.
          keyAt(now(), `reverse:${payment.id}`),
        );
        if (answer.status !== 200) {
          const { error } = read(Refusal, answer, 'stripe, refund');
          return { result: 'refused', ...wordsOf(error.code ?? error.type, error.message) };
        }
        const { status } = read(Refund, answer, 'stripe, refund');
        return status === 'failed' || status === 'canceled'
          ? { result: 'refused', ...wordsOf(status, null) }
          : { result: 'reversed' };
      },
    };
  },
});

/** Stripe answers a key as it did before, errors of its own too: each minute has another. */
const keyAt = (now: Date, what: string) => `${what}:${Math.floor(now.getTime() / 60_000)}`;

type Kind = Account['kind'];
const modeOf = (kind: Kind) => (kind === 'sandbox' ? 'test' : 'live');

/** Test money never counts as live, nor the other way round, whatever the key says. */
const isOfKind = (kind: Kind, { id, livemode }: { id: string; livemode: boolean }) =>
  livemode === (kind === 'live') && id.startsWith(`cs_${modeOf(kind)}_`);

const createClient = (
  { kind, credentials }: Account<z.output<typeof Credentials>>,
  { callsTo }: Tools,
) => {
  const { secretKey, baseUrl } = credentials;
  if (secretKey.slice(3, 7) !== modeOf(kind))
    throw new AccountProblem(`The key is not one of a ${kind} account`);
  const call = callsTo({ provider: 'stripe', baseUrl: host, override: baseUrl });

  const ask = (what: string, request: Omit<Call, 'headers' | 'what'>, idempotencyKey?: string) =>
    call({
      what,
      ...request,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'stripe-version': version,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
    });

  const retrieve = async ({ reference }: OpenedPayment) => {
    const path = `${pathOf`/v1/checkout/sessions/${reference}`}?expand[]=payment_intent.latest_charge`;
    const answer = await ask('retrieve', { method: 'GET', path });
    if (answer.status !== 200) throw refused('retrieve', answer);
    const session = read(Session, answer, 'stripe, retrieve');
    if (!isOfKind(kind, session)) throw new AccountProblem(`A session is not of a ${kind} account`);
    if (session.id !== reference)
      throw new GatewayUnavailable('stripe, retrieve: it answered another session');
    return session;
  };
  return { ask, retrieve };
};

const formOf = (payment: GatewayPayment, expiresAt: number): Record<string, string> => ({
  mode: 'payment',
  'line_items[0][quantity]': '1',
  'line_items[0][price_data][currency]': payment.currency.toLowerCase(),
  'line_items[0][price_data][unit_amount]': String(toWire(capabilities, payment)),
  'line_items[0][price_data][product_data][name]': payment.description || payment.id,
  success_url: `${payment.returnUrl}?says=paid`,
  cancel_url: `${payment.returnUrl}?says=cancelled`,
  client_reference_id: payment.id,
  'metadata[payment_id]': payment.id,
  'payment_intent_data[metadata][payment_id]': payment.id,
  expires_at: String(expiresAt),
});

/** @throws GatewayUnavailable where a twin with the same key runs, or it was used otherwise */
const refusalOf = (answer: HttpAnswer): Opening => {
  const { error } = read(Refusal, answer, 'stripe, create');
  if (answer.status === 409 || error.type === 'idempotency_error') throw refused('create', answer);
  return { result: 'refused', ...wordsOf(error.code ?? error.type, error.message) };
};

/** Of a body whose signature was checked. */
const newsIn = (body: Buffer, kind: Kind): Notification => {
  const event = Event.safeParse(jsonIn(body.toString('utf8'))).data;
  if (!event || !news.has(event.type)) return { result: 'irrelevant' };
  const session = EventSession.safeParse(event.data.object).data;
  if (!session || !isOfKind(kind, { id: session.id, livemode: event.livemode }))
    return { result: 'irrelevant' };
  const { id: reference, client_reference_id: paymentId = null } = session;
  return { result: 'news', reference, paymentId };
};

/** In whole seconds. Told by the payment alone wherever that can be, so that a repetition says the same. */
const expiryOf = ({ expiresAt }: { expiresAt: Date }, now: Date): number => {
  const deadline = Math.floor(expiresAt.getTime() / 1000);
  const leftSeconds = deadline - now.getTime() / 1000;
  // A minute's room each for clocks that differ from Stripe's.
  if (leftSeconds > 86_400 - 60) return deadline - 60;
  return leftSeconds < 31 * 60 ? deadline + 31 * 60 : deadline;
};

const refused = (what: string, { status }: HttpAnswer) =>
  new GatewayUnavailable(`stripe, ${what}: it refused to answer, HTTP ${status}`);
