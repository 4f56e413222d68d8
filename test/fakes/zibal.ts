import { newRefundBook } from './refunds.ts';
import {
  entryIn,
  newEntry,
  newScript,
  startFakeProvider,
  type Entry,
  type Provider,
  type FakeResponse,
} from './server.ts';

/** A row of its report, with the newest first. Times are Tehran's. */
interface Payout {
  amount: number;
  settlementDate: string;
  refNumber: string | null;
  /** 0: at the bank. */
  status: number;
  details?: { amount: number; type: number; transactionId: string; transactionOrderId: string }[];
}

/** Zibal: two-step, shows a cancel, and responds "already verified" without number and amount. */
export const startZibal = async () => {
  const book = new Map<string, Entry>();
  const script = newScript<number>(book);
  let raced: string | undefined;
  let mistakenFor: string | undefined;
  let refNumberAs: (text: string) => unknown = Number;
  let wage: unknown = 0;

  const facts = (entry: Entry) => ({
    paidAt: '2026-11-20T10:00:00.000000',
    amount: entry.amount,
    status: Number(entry.state),
    refNumber: entry.charged > 0 ? refNumberAs(entry.trackingCode) : null,
    cardNumber: entry.charged > 0 ? entry.card : null,
    orderId: entry.paymentId,
    description: '',
  });

  const refundBook = newRefundBook(book, {
    done: '2',
    failed: ['3'],
    reference: (n) => String(7_000 + n),
  });
  const payouts: Payout[] = [];
  /** The result of the next refunds, if Zibal refuses them. */
  let refundResult: number | undefined;
  let pieces = 1;
  let reversesQuickly = false;

  /** The other API, with other results. */
  const platform = (name: string, body: Record<string, unknown>): FakeResponse => {
    const reply = (code: number, data?: unknown) => ({
      body: { result: code, message: code === 1 ? 'success' : `result ${code}`, data },
    });
    if (name === 'report/checkout') {
      const { page, size, fromDate } = body;
      if (!/^\d{4}-\d\d-\d\d$/.test(String(fromDate))) return reply(9);
      const rows = payouts.filter(({ settlementDate }) => settlementDate >= String(fromDate));
      const from = (Number(page) - 1) * Number(size);
      return reply(1, rows.slice(from, from + Number(size)));
    }
    if (name === 'account/refund/list') {
      if ('accountId' in body || !/^\d{4}-\d\d-\d\d$/.test(String(body['fromDate'])))
        return reply(9);
      const from = (Number(body['page']) - 1) * Number(body['size']);
      const rows = refundBook.refunds.map((refund) => ({
        refundId: refund.reference,
        status: Number(refund.state),
        amount: refund.amount,
        wage: 500,
        transactionDetail: { trackId: Number(refund.payment) },
        createdAt: new Date(refund.createdAt.getTime() + 3.5 * 3_600_000)
          .toISOString()
          .slice(0, -1),
      }));
      return reply(1, rows.slice(from, from + Number(body['size'])));
    }
    if (body['accountId'] !== 'account-1') return reply(18);
    const { trackId, amount, tryReverse, description, cardNumber } = body;
    const reference = String(trackId);
    const entry = book.get(reference);
    if (cardNumber !== undefined) throw new Error('The money would go to this card');
    if (refundResult !== undefined) return reply(refundResult);
    if (entry?.state !== '1') return reply(26);
    if (!Number.isInteger(amount) || Number(amount) < 1_000) return reply(9);
    if (Number(amount) > refundBook.rest(reference)) return reply(26);
    if (tryReverse === true && reversesQuickly) {
      entry.state = '18';
      entry.reversed += 1;
      return reply(1, { reversed: true, remaining: 0, split: [] });
    }
    const refundId = String(description);
    if (pieces === 0) {
      const one = refundBook.add(reference, { amount: Number(amount), refundId });
      return reply(1, { reversed: false, refundId: Number(one.reference) });
    }
    const first = Number(amount) - (pieces - 1);
    const split = Array.from({ length: pieces }, (_, n) =>
      refundBook.add(reference, { amount: n === 0 ? first : 1, refundId }),
    );
    return reply(1, {
      reversed: false,
      remaining: refundBook.rest(reference),
      split: split.map((piece) => ({ refundId: Number(piece.reference), amount: piece.amount })),
    });
  };

  const operations: Record<string, (body: Record<string, unknown>) => FakeResponse> = {
    request({ amount, callbackUrl, orderId }) {
      if (!Number.isInteger(amount)) return result(104);
      if (Number(amount) <= 1_000) return result(105);
      if (!/^https?:/.test(String(callbackUrl))) return result(106);
      const trackId = 3_000_000_000 + book.size;
      const payment = { amount: Number(amount), currency: 'IRR', paymentId: String(orderId) };
      book.set(
        String(trackId),
        newEntry({ ...payment, returnUrl: String(callbackUrl), state: '-1' }),
      );
      return result(100, { trackId });
    },
    verify({ trackId }) {
      const entry = Number.isInteger(trackId) ? book.get(String(trackId)) : undefined;
      if (!entry) return result(203);
      if (entry.state === '1') return result(201);
      if (entry.state !== '2') return result(202);
      entry.state = '1';
      entry.verified += 1;
      const orderId = mistakenFor ?? entry.paymentId;
      mistakenFor = undefined;
      return result(100, { ...facts(entry), orderId });
    },
    inquiry({ trackId }) {
      const entry = Number.isInteger(trackId) ? book.get(String(trackId)) : undefined;
      if (!entry) return result(203);
      const createdAt = '2026-11-20T09:59:00.000000';
      return result(100, { ...facts(entry), createdAt, verifiedAt: null, wage });
    },
  };

  const server = await startFakeProvider(({ method, path, json, headers }) => {
    const [, other] = /^\/v1\/(account\/refund(?:\/list)?|report\/checkout)$/.exec(path) ?? [];
    if (method === 'POST' && other !== undefined)
      return headers.authorization?.startsWith('Bearer ')
        ? platform(other, json)
        : { body: { result: 2, message: 'result 2' } };
    const [, name = ''] = /^\/v1\/(\w+)$/.exec(path) ?? [];
    if (method !== 'POST' || !Object.hasOwn(operations, name)) return undefined;
    if (json['merchant'] !== 'zibal' && json['merchant'] !== 'live-merchant') return result(102);
    if (script.dislikesPayers() && json['mobile'] !== undefined)
      return {
        body: { result: 106, message: `The mobile ${JSON.stringify(json['mobile'])} is invalid` },
      };
    const { response, refusal: code } = script.next(name);
    if (response) return response;
    if (name === 'verify' && raced !== undefined) {
      operations['verify']?.({ trackId: Number(raced) });
      raced = undefined;
    }
    return code === undefined ? operations[name]?.(json) : result(code);
  });

  return {
    ...server,
    ...script.controls,
    ...refundBook,
    book,
    payouts,
    /** Refuses the next refunds with this result, until it is undefined. */
    refuseRefunds: (code: number | undefined) => {
      refundResult = code;
    },
    /** The number of refunds that Zibal makes of one of ours. 0: one, whose number is in no list of parts. */
    splitRefunds: (into: number) => {
      pieces = into;
    },
    /** Whether a whole refund is a reversal. */
    reverseQuickly: (does: boolean) => {
      reversesQuickly = does;
    },
    /** Another call verifies the payment just before the next verification. */
    verifyBeforeNextVerify(reference: string) {
      raced = reference;
    },
    /** The response to the next verification is about this payment. */
    mistakeOnce: (paymentId: string) => {
      mistakenFor = paymentId;
    },
    tellWage: (told: unknown) => {
      wage = told;
    },
    refNumberAs: (form: (text: string) => unknown) => {
      refNumberAs = form;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== '-1') return;
      entry.state = '2';
      entry.charged += 1;
    },
    back(reference: string) {
      const { returnUrl, state, paymentId } = entryIn(book, reference);
      const success = state === '1' || state === '2' ? '1' : '0';
      const query = new URLSearchParams({
        success,
        trackId: reference,
        orderId: paymentId,
        status: state,
      });
      return { method: 'GET' as const, url: `${returnUrl}?${query.toString()}` };
    },
  } satisfies Provider & Record<string, unknown>;
};

const result = (code: number, fields: object = {}): FakeResponse => ({
  body: { result: code, message: code === 100 ? 'success' : `result ${code}`, ...fields },
});
