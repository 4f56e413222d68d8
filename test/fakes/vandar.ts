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

const accessLifeSeconds = 432_000;

/**
 * Vandar: two-step, answers a verification once, and has refunds at another host by tokens that end. The states of a payment are
 * the codes of its inquiry; `none` is a payer who has not paid.
 */
export const startVandar = async () => {
  const book = new Map<string, Entry>();
  const script = newScript<number>(book);
  let mistakenFor: string | undefined;
  let raced: string | undefined;
  /** By reference. */
  const amounts = new Map<string, unknown>();
  const unpaid = new Map<string, FakeResponse>();

  const transIdOf = (entry: Entry) => Number(entry.trackingCode);
  const facts = (entry: Entry, reference: unknown) => ({
    amount: amounts.get(String(reference)) ?? String(entry.amount),
    transId: transIdOf(entry),
    refnumber: `ref-${entry.trackingCode}`,
    trackingCode: `tracking-${entry.trackingCode}`,
    factorNumber: entry.paymentId || null,
    mobile: null,
    description: '',
    cardNumber: entry.charged > 0 ? entry.card : null,
  });

  const operations: Record<string, (body: Record<string, unknown>) => FakeResponse> = {
    send({ amount, callback_url: url, factorNumber }) {
      if (!Number.isInteger(amount)) return refusal(['amount باید عدد یا رشته‌ای از اعداد باشد']);
      if (Number(amount) < 1_000) return refusal(['amount نباید کوچکتر از 1000 باشد.']);
      if (!/^https?:/.test(String(url))) return refusal(['callback_url معتبر نیست']);
      const token = `VANDAR${String(book.size).padStart(9, '0')}`;
      const payment = { amount: Number(amount), currency: 'IRR', paymentId: String(factorNumber) };
      book.set(token, newEntry({ ...payment, returnUrl: String(url), state: 'none' }));
      return { body: { status: 1, token } };
    },
    transaction({ token }) {
      const entry = book.get(String(token));
      if (!entry) return refusal(['token معتبر نیست']);
      if (entry.state === 'none')
        return (
          unpaid.get(String(token)) ?? refusal(['تراکنش با خطا مواجه شده است'], { httpStatus: 400 })
        );
      const told = { code: Number(entry.state), message: `code ${entry.state}` };
      return { body: { status: 1, ...facts(entry, token), ...told } };
    },
    verify({ token }) {
      const entry = book.get(String(token));
      if (!entry) return refusal(['token معتبر نیست']);
      if (entry.state === '2') return refusal(['نتیجه تراکنش قبلا اعلام گردیده'], { status: 2 });
      if (entry.state === '3') return refusal(['زمان تایید تراکنش منقضی شده است'], { status: 3 });
      if (entry.state !== '1') return refusal(['تراکنش با خطا مواجه شده است']);
      entry.state = '2';
      entry.verified += 1;
      const factorNumber = mistakenFor ?? (entry.paymentId || null);
      mistakenFor = undefined;
      const wage = { realAmount: entry.amount - 500, wage: '500' };
      return { body: { status: 1, ...facts(entry, token), ...wage, factorNumber, message: 'ok' } };
    },
  };

  const refundBook = newRefundBook(book, {
    done: '2',
    failed: ['-3', '-4', '-6'],
    reference: (n) => String(167_000_000_000 + n),
  });
  /** The HTTP status of the next refunds, if Vandar refuses them. */
  let refundStatus: number | undefined;
  let pieces = 1;
  let tokens = { access: 'access-token-0', refresh: 'refresh-token-0' };
  let renewals = 0;

  const referenceOf = (transId: string) =>
    [...book].find(([, entry]) => String(transIdOf(entry)) === transId)?.[0];

  const rowOf = (entry: Entry, reference: string) => ({
    id: transIdOf(entry),
    uuid: `uuid-${transIdOf(entry)}`,
    amount: entry.amount / 10,
    status: 1,
    ref_id: null,
    payment_number: null,
    factorNumber: entry.paymentId,
    refund: null,
    refund_detail_ids: refundBook.of(reference).map((refund) => refund.reference),
  });
  const refundRowOf = (refund: RefundEntry) => ({
    id: Number(refund.reference),
    uuid: `uuid-${refund.reference}`,
    amount: refund.amount / 10,
    status: Number(refund.state),
    ref_id: refund.state === '2' ? `14${refund.reference}` : null,
    payment_number: refund.refundId,
    factorNumber: null,
    refund: null,
    refund_detail_ids: [],
  });

  const refund = (transId: string, json: Call['json']): FakeResponse => {
    const { payment_number: number, amount } = json;
    const reference = referenceOf(transId);
    if (refundStatus !== undefined)
      return { status: refundStatus, body: { status: 0, error: `refused with ${refundStatus}` } };
    if (reference === undefined || book.get(reference)?.state !== '2')
      return { status: 404, body: { status: 0, message: 'خطای ۴۰۴ رخ داده است' } };
    if (typeof amount !== 'string' || Number(amount) > refundBook.rest(reference))
      return { status: 422, body: { status: 0, errors: { amount: ['amount is too large'] } } };
    const first = Number(amount) - 10 * (pieces - 1);
    const results = Array.from({ length: pieces }, (_, n) => {
      const refundId = String(number);
      const one = refundBook.add(reference, { amount: n === 0 ? first : 10, refundId });
      return {
        id: `uuid-${one.reference}`,
        gateway_transaction_id: Number(one.reference),
        amount: String(one.amount),
        wage: 1_000,
        payment_number: one.refundId,
        status: 'PENDING',
      };
    });
    return { body: { status: 1, data: { message: 'ok', results } } };
  };

  /** The other host. */
  const api = ({ method, path, json, headers }: Call): FakeResponse | undefined => {
    if (method === 'POST' && path === '/v3/refreshtoken') {
      // A refresh token serves once, and ends its access token.
      if (json['refreshtoken'] !== tokens.refresh) return { status: 401, body: ['unauthorized'] };
      renewals += 1;
      tokens = { access: `access-token-${renewals}`, refresh: `refresh-token-${renewals}` };
      return {
        body: {
          token_type: 'Bearer',
          expires_in: accessLifeSeconds,
          access_token: tokens.access,
          refresh_token: tokens.refresh,
        },
      };
    }
    const [, transId, id] =
      /^\/v3\/business\/my-shop\/transaction(?:\/(\d+)\/refund|\?id=(\d+))$/.exec(path) ?? [];
    if (transId === undefined && id === undefined) return undefined;
    if (headers.authorization !== `Bearer ${tokens.access}`)
      return { status: 401, body: { status: 0, error: 'Unauthenticated' } };
    if (transId !== undefined) return refund(transId, json);
    const reference = referenceOf(id ?? '');
    const known = refundBook.refunds.find((each) => each.reference === id);
    const rows = [
      ...(reference === undefined ? [] : [rowOf(entryIn(book, reference), reference)]),
      ...(known ? [refundRowOf(known)] : []),
    ];
    return { body: { status: 1, has_more: false, data: rows } };
  };

  const server = await startFakeProvider((call) => {
    const { method, path, json } = call;
    if (path.startsWith('/v3/')) return api(call);
    const [, test, name = ''] = /^\/api\/v3\/(test\/)?(\w+)$/.exec(path) ?? [];
    if (method !== 'POST' || !Object.hasOwn(operations, name)) return undefined;
    if (json['api_key'] !== (test ? 'test' : 'live-key-0123456789'))
      return refusal(['api_key معتبر نیست']);
    if (script.dislikesPayers() && json['mobile_number'] !== undefined)
      return refusal([`mobile_number ${JSON.stringify(json['mobile_number'])} معتبر نیست`]);
    const { response, refusal: httpStatus } = script.next(
      name === 'transaction' ? 'inquiry' : name,
    );
    if (response) return response;
    if (name === 'verify' && raced !== undefined) {
      operations['verify']?.({ token: raced });
      raced = undefined;
    }
    return httpStatus === undefined
      ? operations[name]?.(json)
      : refusal([`refused with ${httpStatus}`], { httpStatus });
  });

  return {
    ...server,
    ...script.controls,
    ...refundBook,
    book,
    /** The tokens that it accepts. */
    tokens: () => tokens,
    renewals: () => renewals,
    /** It accepts these from now on, as after a login. */
    logIn: (next: { access: string; refresh: string }) => {
      tokens = next;
    },
    /** Refuses the next refunds with this HTTP status, until it is undefined. */
    refuseRefunds: (status: number | undefined) => {
      refundStatus = status;
    },
    /** The number of refunds that Vandar makes of one of ours. */
    splitRefunds: (into: number) => {
      pieces = into;
    },
    /** Another call verifies the payment just before the next verification. */
    verifyBeforeNextVerify(reference: string) {
      raced = reference;
    },
    /** The response to the next verification is about this payment. */
    mistakeOnce: (paymentId: string) => {
      mistakenFor = paymentId;
    },
    /** Its answers about the payment have this amount. */
    tellAmount: (reference: string, amount: unknown) => void amounts.set(reference, amount),
    /** The answer to an inquiry about the payment while nobody has paid it. */
    unpaidAs: (reference: string, response: FakeResponse) => void unpaid.set(reference, response),
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== 'none') return;
      entry.state = '1';
      entry.charged += 1;
    },
    back(reference: string) {
      const { returnUrl, state } = entryIn(book, reference);
      const isPaid = state === '1' || state === '2';
      const query = new URLSearchParams({
        token: reference,
        payment_status: isPaid ? 'OK' : 'FAILED',
      });
      return { method: 'GET' as const, url: `${returnUrl}?${query.toString()}` };
    },
  } satisfies Provider & Record<string, unknown>;
};

const refusal = (
  errors: string[],
  { status = 0, httpStatus = 422 }: { status?: number; httpStatus?: number } = {},
): FakeResponse => ({ status: httpStatus, body: { status, errors } });
