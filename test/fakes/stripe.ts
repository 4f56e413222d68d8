import { newRefundBook, type RefundEntry } from './refunds.ts';
import { newStripeBalance, pageOf, type Labels, type Transaction } from './stripe-balance.ts';
import {
  entryIn,
  newEntry,
  newScript,
  startFakeProvider,
  type Call,
  type Entry,
  type Provider,
  type FakeResponse,
} from './server.ts';

export interface Options {
  mode?: 'test' | 'live';
  /** An address of this machine. */
  host?: string;
}

/** Stripe Checkout: one step, form-encoded, with idempotency keys, expiry and refunds. */
export const startStripe = async ({ mode = 'test', host }: Options = {}) => {
  const book = new Map<string, Entry>();
  const responses = new Map<string, { text: string; reply: FakeResponse }>();
  /** Refusals of the next calls, by the end of the path. */
  const refused = new Map<string, Refused[]>();
  let livemode = mode === 'live';
  const { dislikesPayers, controls } = newScript(book);
  let confusesRefund = false;
  let lastError: object | null = null;
  let mistakenFor: string | undefined;
  const disputes: StripeDispute[] = [];
  const charges: Transaction[] = [];
  /** How the book shows that the money of a refund came back. */
  let returned: Labels | null = { type: 'refund_failure', reporting_category: 'refund_failure' };
  let refundsRepeat = false;
  const refundBook = newRefundBook(book, {
    done: 'succeeded',
    failed: ['failed', 'canceled'],
    reference: (n) => `re_${n}`,
  });

  const charge = (
    { amount, currency, trackingCode, paymentId }: ChargedEntry,
    { at = new Date(), fee = 0 } = {},
  ): string => {
    const id = `ch_${charges.length + 1}`;
    charges.push({
      id: `txn_${id}`,
      ...{ type: 'charge', reporting_category: 'charge' },
      created: Math.floor(at.getTime() / 1000),
      amount,
      currency,
      fee,
      source: {
        ...{ id, object: 'charge', amount, currency, payment_intent: trackingCode },
        metadata: paymentId === '' ? {} : { payment_id: paymentId },
      },
    });
    return id;
  };

  const session = (id: string, { amount, currency, state, paymentId, charged }: Entry) => {
    const [status = '', paymentStatus = '', intentStatus] = state.split(' ');
    return {
      id,
      object: 'checkout.session',
      livemode,
      status,
      payment_status: paymentStatus,
      amount_total: amount,
      currency,
      client_reference_id: paymentId,
      url: status === 'open' ? `https://checkout.stripe.example/c/pay/${id}` : null,
      payment_intent:
        intentStatus === undefined
          ? null
          : {
              id: `pi_${id.slice(8)}`,
              status: intentStatus,
              last_payment_error: lastError,
              latest_charge:
                charged > 0
                  ? { id: 'ch_1', refunds: { data: refundBook.of(id).map(shown) } }
                  : null,
            },
    };
  };

  const create = ({ form }: Call): FakeResponse => {
    const amount = Number(form.get('line_items[0][price_data][unit_amount]'));
    const currency = form.get('line_items[0][price_data][currency]') ?? '';
    const leftSeconds = Number(form.get('expires_at')) - Date.now() / 1000;
    const name = form.get('line_items[0][price_data][product_data][name]');
    if (
      !name ||
      form.get('mode') !== 'payment' ||
      !/^[a-z]{3}$/.test(currency) ||
      !Number.isInteger(amount)
    )
      return refusal(400, 'invalid_request_error', 'parameter_invalid');
    if (String(amount).length > (currency === 'idr' ? 12 : 8))
      return refusal(400, 'invalid_request_error', 'amount_too_large');
    if (leftSeconds < 30 * 60 || leftSeconds > 24 * 60 * 60)
      return refusal(400, 'invalid_request_error', 'expires_at_invalid');
    const id = `cs_${mode}_${String(book.size + 1).padStart(12, 'a')}`;
    const paymentId = form.get('client_reference_id') ?? '';
    const returnUrl = form.get('success_url') ?? '';
    const entry = newEntry({ amount, currency, paymentId, returnUrl, state: 'open unpaid' });
    book.set(id, {
      ...entry,
      trackingCode: `pi_${id.slice(8)}`,
      card: form.get('cancel_url') ?? '',
    });
    return { body: session(id, entry) };
  };

  const expire = (id: string): FakeResponse => {
    const entry = book.get(id);
    if (!entry) return refusal(404, 'invalid_request_error', 'resource_missing');
    if (!entry.state.startsWith('open')) return refusal(400, 'invalid_request_error', 'not_open');
    entry.state = 'expired unpaid';
    return { body: session(id, entry) };
  };

  const shown = ({
    reference,
    payment,
    amount,
    state,
    reason,
    refundId,
    claimed,
    createdAt,
  }: RefundEntry) => ({
    id: reference,
    object: 'refund',
    amount,
    currency: entryIn(book, payment).currency,
    created: Math.floor(createdAt.getTime() / 1000),
    metadata: {
      ...(claimed && { payment_id: claimed }),
      ...(refundId !== null && { refund_id: refundId }),
    },
    payment_intent: entryIn(book, payment).trackingCode,
    status: state,
    ...(state === 'pending' ? { pending_reason: reason } : { failure_reason: reason }),
    destination_details: { type: 'card', card: { reference: '7498704301', type: 'refund' } },
  });

  const refund = ({ form }: Call): FakeResponse => {
    const intent = form.get('payment_intent');
    const [id, found] = [...book].find(([, one]) => one.trackingCode === intent) ?? [];
    if (form.has('reason')) throw new Error('A reason can block the payer');
    if (id === undefined || !found || found.charged === 0)
      return refusal(400, 'invalid_request_error', 'not_charged');
    const rest = refundBook.rest(id);
    const amount = Number(form.get('amount') ?? rest);
    if (rest === 0) return refusal(400, 'invalid_request_error', 'charge_already_refunded');
    if (!Number.isInteger(amount) || amount < 1 || amount > rest) return overTheRest;
    const made = refundBook.add(id, { amount, refundId: form.get('metadata[refund_id]') });
    made.claimed = form.get('metadata[payment_id]');
    const answer = shown(made);
    if (!confusesRefund) return { body: answer };
    confusesRefund = false;
    return { body: { ...answer, payment_intent: 'pi_another' } };
  };

  const listRefunds = (query: URLSearchParams): FakeResponse => {
    const intent = query.get('payment_intent');
    const [id = ''] = [...book].find(([, one]) => one.trackingCode === intent) ?? [];
    const all = refundBook.of(id).map(shown).toReversed();
    if (refundsRepeat) return { body: { object: 'list', data: all.slice(0, 1), has_more: true } };
    return pageOf(all, query);
  };

  /** What payments moved: charges, refunds, and refunds that came back. */
  const transactions = (): Transaction[] => {
    const ofRefund = (made: RefundEntry): Transaction[] => {
      const { reference, amount, state } = made;
      const created = Math.floor(made.createdAt.getTime() / 1000);
      const { currency } = entryIn(book, made.payment);
      const moved = { created, currency, fee: 0, source: shown(made) };
      const labels = { type: 'refund', reporting_category: 'refund' };
      const there = { ...moved, id: `txn_${reference}`, ...labels, amount: -amount };
      if (!returned || !['failed', 'canceled'].includes(state)) return [there];
      return [there, { ...moved, id: `txn_${reference}_back`, ...returned, amount }];
    };
    return [...charges, ...refundBook.refunds.flatMap(ofRefund)];
  };
  const balance = newStripeBalance(transactions);

  const handle = (call: Call): FakeResponse | undefined => {
    const { pathname, searchParams } = new URL(call.path, 'http://stripe');
    const [, id, rest] = /^\/v1\/checkout\/sessions\/([^/]+)(\/expire)?$/.exec(pathname) ?? [];
    if (call.method === 'POST' && pathname === '/v1/checkout/sessions') return create(call);
    if (call.method === 'POST' && pathname === '/v1/refunds') return refund(call);
    if (pathname === '/v1/refunds') return listRefunds(searchParams);
    if (pathname === '/v1/disputes')
      return {
        body: {
          object: 'list',
          data: disputes
            .filter((each) => each.payment_intent === searchParams.get('payment_intent'))
            .toReversed(),
          has_more: false,
        },
      };
    const ofBalance = balance.answer(pathname, searchParams);
    if (ofBalance) return ofBalance;
    if (id === undefined) return undefined;
    if (rest) return call.method === 'POST' ? expire(id) : undefined;
    const entry = book.get(id);
    if (!entry) return refusal(404, 'invalid_request_error', 'resource_missing');
    if (!call.path.includes('expand[]=payment_intent.latest_charge.refunds'))
      throw new Error('Without the expansion the payment intent is an id only');
    return { body: session(mistakenFor ?? id, entry) };
  };

  const server = await startFakeProvider((call) => {
    if (!/^Bearer sk_(test|live)_/.test(call.headers.authorization ?? ''))
      return refusal(401, 'invalid_request_error', 'api_key_invalid');
    const { pathname } = new URL(call.path, 'http://stripe');
    const email = call.form.get('customer_email');
    if (dislikesPayers() && email !== null) {
      const message = `Invalid email address: ${email}`;
      const error = { type: 'invalid_request_error', code: 'email_invalid', message };
      return { status: 400, body: { error: { ...error, param: 'customer_email' } } };
    }
    const key = call.headers['idempotency-key'];
    const before = typeof key === 'string' ? responses.get(key) : undefined;
    if (before && before.text !== call.text) return refusal(400, 'idempotency_error', 'key_reused');
    if (before) return before.reply;
    const [, refusals = []] = [...refused].find(([path]) => pathname.endsWith(path)) ?? [];
    const next = refusals.shift();
    const reply = next ? refusal(next.status, next.type, next.code) : handle(call);
    // Stripe keeps its own errors too, but not a request that it rejected at once.
    const isKept = !next || next.status >= 500;
    if (typeof key === 'string' && reply && isKept) responses.set(key, { text: call.text, reply });
    return reply;
  }, host);

  return {
    ...server,
    ...refundBook,
    ...balance,
    /** The refund as Stripe shows it. */
    shown,
    /** Takes money. Also for a session that is not here, or has paid before. @returns the id of the charge */
    charge,
    charges,
    book,
    dislikePayers: controls.dislikePayers,
    move: controls.move,
    /** Refuses the next calls to paths with this end. */
    refuse: (path: string, ...replies: Refused[]) => void refused.set(path, replies),
    /** The next answer to a refund is about another payment. */
    answerAboutAnother: () => {
      confusesRefund = true;
    },
    setLivemode: (is: boolean) => {
      livemode = is;
    },
    /** Responds with this session to every inquiry, until it is undefined. */
    mistakeFor: (id: string | undefined) => {
      mistakenFor = id;
    },
    /** The list of refunds repeats its first page. */
    repeatRefunds: (does: boolean) => {
      refundsRepeat = does;
    },
    /** The book shows refunds that came back like this; null: not at all. */
    returnAs: (labels: Labels | null) => {
      returned = labels;
    },
    failWith: (error: object | null) => {
      lastError = error;
    },
    disputes,
    /** The payer's bank asks for money. @returns the dispute as Stripe shows it, which the test may change */
    dispute(reference: string, status: string, changes: Partial<StripeDispute> = {}) {
      const { amount, currency, trackingCode } = entryIn(book, reference);
      const made = newDispute(disputes.length + 1, { amount, currency, trackingCode, status });
      Object.assign(made, changes);
      disputes.push(made);
      return made;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== 'open unpaid') return;
      entry.state = 'complete paid succeeded';
      entry.charged += 1;
      charge(entry);
    },
    back(reference: string) {
      const { returnUrl, card: cancelUrl, state } = entryIn(book, reference);
      return { method: 'GET' as const, url: state.startsWith('open') ? cancelUrl : returnUrl };
    },
  } satisfies Provider & Record<string, unknown>;
};

/** A dispute as Stripe shows it. */
const newDispute = (
  n: number,
  of: { amount: number; currency: string; trackingCode: string | null; status: string },
) => {
  const now = Math.floor(Date.now() / 1000);
  return {
    id: `dp_${n}`,
    object: 'dispute',
    amount: of.amount,
    currency: of.currency,
    created: now,
    payment_intent: of.trackingCode,
    reason: 'fraudulent',
    network_reason_code: '10.4',
    status: of.status,
    evidence_details: { due_by: now + 7 * 86_400, past_due: false, has_evidence: false },
  };
};
type StripeDispute = ReturnType<typeof newDispute>;

type ChargedEntry = Pick<Entry, 'amount' | 'currency' | 'trackingCode' | 'paymentId'>;

/** Stripe's answer has no code. */
const overTheRest: FakeResponse = {
  status: 400,
  body: {
    error: {
      type: 'invalid_request_error',
      param: 'amount',
      message: 'Refund amount is greater than unrefunded amount on charge',
    },
  },
};

interface Refused {
  status: number;
  type: string;
  code?: string;
}

const refusal = (status: number, type: string, code?: string): FakeResponse => ({
  status,
  body: { error: { type, code, message: `Stripe says ${code}` } },
});
