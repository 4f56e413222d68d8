import { newMollieBalance } from './mollie-balance.ts';
import { amountText, link, linksOf, pageOf, problem, timeText } from './mollie-lists.ts';
import { newRefundBook, type RefundEntry } from './refunds.ts';
import {
  entryIn,
  newEntry,
  newScript,
  startFakeProvider,
  type Call,
  type Entry,
  type FakeResponse,
  type Provider,
} from './server.ts';

interface Options {
  mode?: 'test' | 'live';
}

/** Mollie's Payments API: amounts as text, refunds, chargebacks, unsigned reports, and the balance of the organization. */
export const startMollie = async ({ mode = 'test' }: Options = {}) => {
  const book = new Map<string, Entry>();
  const details = new Map<string, Pick<Call, 'json'> & { createdAt: Date }>();
  /** The first answer to each key, which Mollie keeps for a day. */
  const kept = new Map<string, { text: string; reply: FakeResponse }>();
  const answers: { call: Call; reply: FakeResponse }[] = [];
  const chargebacks: Chargeback[] = [];
  const script = newScript<Refused>(book);
  let failure: object | null = null;
  let shownMode: string = mode;
  let mistakenFor: string | undefined;
  let refundPages = 250;
  const fixed = new Set<string>();
  const refundBook = newRefundBook(book, {
    done: 'refunded',
    failed: ['failed', 'canceled'],
    reference: (n) => `re_${n}`,
  });
  const balance = newMollieBalance(mode);

  const show = (id: string, { amount, currency, state, paymentId, charged }: Entry) => {
    const { json = {}, createdAt = new Date() } = details.get(id) ?? {};
    const path = `/v2/payments/${id}`;
    const rest = refundBook.rest(id);
    return {
      ...{ resource: 'payment', id, mode: shownMode, createdAt: timeText(createdAt) },
      ...{ amount: amountText(amount, currency), description: json['description'], method: null },
      ...{ redirectUrl: json['redirectUrl'], webhookUrl: json['webhookUrl'] ?? null },
      metadata: paymentId === '' ? null : { payment_id: paymentId },
      ...{ status: state, profileId: 'pfl_1', sequenceType: 'oneoff' },
      ...(state === 'open' && { isCancelable: !fixed.has(id) }),
      ...(charged > 0 && {
        amountRefunded: amountText(amount - rest, currency),
        amountRemaining: amountText(rest, currency),
      }),
      details: failure,
      _links: linksOf({
        ...{ self: link(path), dashboard: link(`/dashboard/${id}`, 'text/html') },
        ...(state === 'open' && { checkout: link(`/checkout/${id}`, 'text/html') }),
      }),
    };
  };

  const create = ({ json }: Call): FakeResponse => {
    const { value, currency } = json['amount'] as { value: string; currency: string };
    if (!json['description'] || !json['redirectUrl'])
      return problem(422, 'A field is missing', 'description');
    if (!/^[A-Z]{3}$/.test(currency)) return problem(422, 'No currency', 'amount.currency');
    const amount = Number(value.replace('.', ''));
    if (amountText(amount, currency).value !== value)
      return problem(422, 'The amount has the wrong number of decimals', 'amount');
    const id = `tr_${mode}${String(book.size + 1).padStart(6, '0')}`;
    const paymentId = (json['metadata'] as { payment_id: string }).payment_id;
    const returnUrl = json['redirectUrl'] as string;
    const entry = newEntry({ amount, currency, paymentId, returnUrl, state: 'open' });
    book.set(id, { ...entry, trackingCode: id });
    details.set(id, { json, createdAt: new Date() });
    return { status: 201, body: show(id, entryIn(book, id)) };
  };

  const cancel = (id: string, entry: Entry): FakeResponse => {
    if (fixed.has(id) || !['open', 'authorized'].includes(entry.state))
      return problem(422, 'The payment cannot be cancelled');
    entry.state = 'canceled';
    return { body: show(mistakenFor ?? id, entry) };
  };

  const showRefund = (refund: RefundEntry) => {
    const { reference, payment, amount, state, refundId, claimed, createdAt } = refund;
    const path = `/v2/payments/${payment}`;
    return {
      ...{ resource: 'refund', id: reference, mode: shownMode, description: 'Back', status: state },
      amount: amountText(amount, entryIn(book, payment).currency),
      metadata:
        refundId === null && !claimed
          ? null
          : { payment_id: claimed, ...(refundId !== null && { refund_id: refundId }) },
      ...{ paymentId: mistakenFor ?? payment, createdAt: timeText(createdAt) },
      ...(state === 'refunded' && {
        externalReference: { type: 'acquirer-reference', id: '7498704301' },
      }),
      _links: linksOf({ self: link(`${path}/refunds/${reference}`), payment: link(path) }),
    };
  };

  const refund = (id: string, { charged, currency }: Entry, { json }: Call): FakeResponse => {
    const { value, currency: of } = json['amount'] as { value: string; currency: string };
    const amount = Number(value.replace('.', ''));
    const isPossible = charged > 0 && of === currency && amountText(amount, of).value === value;
    if (!isPossible || amount < 1 || amount > refundBook.rest(id))
      return problem(422, 'The specified amount cannot be refunded', 'amount');
    const metadata = json['metadata'] as { payment_id: string; refund_id?: string };
    const made = refundBook.add(id, { amount, refundId: metadata.refund_id ?? null });
    made.claimed = metadata.payment_id;
    return { status: 201, body: showRefund(made) };
  };

  const showChargeback = ({ id, payment, amount, at, reversedAt }: Chargeback) => {
    const path = `/v2/payments/${payment}`;
    return {
      ...{ resource: 'chargeback', id, reason: { code: 'AC01', description: 'Wrong account' } },
      amount: amountText(amount, entryIn(book, payment).currency),
      ...{ paymentId: mistakenFor ?? payment, createdAt: timeText(at) },
      reversedAt: reversedAt && timeText(reversedAt),
      _links: linksOf({ self: link(`${path}/chargebacks/${id}`), payment: link(path) }),
    };
  };

  const ofPayment = (call: Call, id: string, list: string | undefined): FakeResponse => {
    const { pathname: path, searchParams: query } = new URL(call.path, 'http://mollie');
    const entry = book.get(id);
    if (!entry) return problem(404, 'No payment exists with token');
    const refunds = () => refundBook.of(id).map(showRefund).toReversed();
    if (list === 'refunds' && call.method === 'POST') return refund(id, entry, call);
    if (list === 'refunds') return pageOf(list, refunds(), { path, query }, refundPages);
    if (list === 'chargebacks') {
      const shown = chargebacks.filter(({ payment }) => payment === id).map(showChargeback);
      return pageOf(list, shown, { path, query });
    }
    if (call.method === 'DELETE') return cancel(id, entry);
    return { body: show(mistakenFor ?? id, entry) };
  };

  const operationOf = ({ method }: Call, list: string | undefined): string => {
    if (list !== undefined) return method === 'POST' ? 'refund' : `list ${list}`;
    return { POST: 'create', DELETE: 'cancel' }[method] ?? 'retrieve';
  };

  const handle = (call: Call): FakeResponse | undefined => {
    const { pathname, searchParams } = new URL(call.path, 'http://mollie');
    const token = call.headers.authorization ?? '';
    const [, id, list] =
      /^\/v2\/payments(?:\/([^/]+))?(?:\/(refunds|chargebacks))?$/.exec(pathname) ?? [];
    const isOfPayments = pathname.startsWith('/v2/payments');
    const needed = isOfPayments ? /^Bearer (test|live)_/ : /^Bearer access_/;
    if (!needed.test(token))
      return problem(401, 'Missing authentication, or failed to authenticate');
    if (!isOfPayments) return balance.answer(pathname, searchParams);
    const { response, refusal } = script.next(operationOf(call, list));
    if (response) return response;
    if (refusal) return problem(refusal.status, 'Mollie says no', refusal.field);
    if (script.dislikesPayers() && 'billingAddress' in call.json)
      return problem(422, `Not valid: ${call.text}`, 'billingAddress.email');
    if (id !== undefined) return ofPayment(call, decodeURIComponent(id), list);
    return call.method === 'POST' ? create(call) : undefined;
  };

  const server = await startFakeProvider((call) => {
    const key = call.headers['idempotency-key'];
    const before = typeof key === 'string' ? kept.get(key) : undefined;
    if (before && before.text !== call.text)
      return problem(400, 'The key was used for another request');
    const reply = before?.reply ?? handle(call);
    if (typeof key === 'string' && reply) kept.set(key, { text: call.text, reply });
    if (reply) answers.push({ call, reply });
    return reply;
  });

  return {
    ...server,
    ...refundBook,
    ...balance,
    ...script.controls,
    book,
    /** Every call with its answer. */
    answers,
    /** Shows this mode, whatever the key. */
    showMode: (as: string) => {
      shownMode = as;
    },
    /** Responds with this payment to every inquiry, until it is undefined. */
    mistakeFor: (id: string | undefined) => {
      mistakenFor = id;
    },
    failWith: (of: object | null) => {
      failure = of;
    },
    /** The method of this payment lets nobody cancel it. */
    fix: (reference: string) => void fixed.add(reference),
    /** Lists of refunds have so many items. */
    refundPagesHave: (items: number) => {
      refundPages = items;
    },
    /** The address for reports of a payment. */
    reportUrl: (reference: string): string | undefined =>
      details.get(reference)?.json['webhookUrl'] as string | undefined,
    /** The payer's bank takes money back. @returns what the test may change */
    chargeBack(payment: string, amount = entryIn(book, payment).amount): Chargeback {
      const id = `chb_${chargebacks.length + 1}`;
      const made: Chargeback = { id, payment, amount, at: new Date(), reversedAt: null };
      chargebacks.push(made);
      return made;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== 'open') return;
      entry.state = 'paid';
      entry.charged += 1;
      const context = { paymentId: reference, paymentDescription: 'A payment' };
      const { amount, currency } = entry;
      balance.moveBalance('payment', { amount, currency, context });
    },
    back(reference: string) {
      return { method: 'GET' as const, url: entryIn(book, reference).returnUrl };
    },
  } satisfies Provider & Record<string, unknown>;
};

interface Chargeback {
  id: string;
  payment: string;
  amount: number;
  at: Date;
  reversedAt: Date | null;
}

interface Refused {
  status: number;
  field?: string;
}
