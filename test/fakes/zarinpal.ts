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

export interface Options {
  /** The first letter of authorities: S in the sandbox, A live. */
  prefix?: 'S' | 'A';
}

/** ZarinPal v4: two-step, GET return, and types that change on failure. */
export const startZarinpal = async ({ prefix = 'S' }: Options = {}) => {
  const book = new Map<string, Entry>();
  const script = newScript<number>(book);
  let forgetsRefId = false;
  /** A text in the sample of the documentation, a number in the table above it. */
  let listCode: unknown = '100';

  const refundBook = newRefundBook(book, {
    done: 'PAID',
    failed: ['REJECTED', 'BANK_REJECTED', 'REVERSED'],
    reference: (n) => `payout-${n}`,
  });
  /** As the documentation shows them: the newest first, with the offset of Tehran. */
  const payouts: {
    id: string;
    status: string;
    amount: number;
    payable_at: string;
    reference_id: string | null;
    reconciled_at: string | null;
  }[] = [];
  /** The error of the next refund. */
  let refundError: { message: string; category: string } | undefined;
  const sessionId = (authority: string) => Number(entryIn(book, authority).trackingCode) + 5;

  /** The other API. It finds a session by the number of its payment, and has one refund for each. */
  const graphql = (query: string, variables: Record<string, unknown>): object => {
    const error = (message: string, category: string) => ({
      data: null,
      errors: [{ message, extensions: { category } }],
    });
    if (query.includes('Reconciliation(')) {
      if (variables['terminal_id'] !== '4711' || variables['filter'] !== 'ALL')
        return error('No such terminal', 'authorization');
      return { data: { resource: payouts } };
    }
    if (query.startsWith('query')) {
      const found = [...book].filter(([, { trackingCode, state }]) => {
        const isPaid = ['VERIFIED', 'REVERSED'].includes(state);
        return isPaid && trackingCode === variables['reference_id'];
      });
      return {
        data: {
          Session: found.map(([authority, { amount }]) => {
            const [refund] = refundBook.of(authority);
            const payout = refund && {
              status: refund.state,
              amount: refund.amount,
              reference_id: 'paya-77',
            };
            return {
              id: String(sessionId(authority)),
              amount,
              refund: payout ? { instant_payout: payout } : null,
            };
          }),
        },
      };
    }
    const authority = [...book.keys()].find(
      (each) => String(sessionId(each)) === variables['session_id'],
    );
    const { amount, description } = variables;
    if (refundError) return error(refundError.message, refundError.category);
    if (authority === undefined) return error('Session not found', 'validation');
    if (refundBook.of(authority).length > 0) return error('Refunded before', 'validation');
    if (!Number.isInteger(amount) || Number(amount) < 20_000)
      return error('The amount is too low', 'validation');
    if (Number(amount) > refundBook.rest(authority)) return error('Too much', 'validation');
    refundBook.add(authority, { amount: Number(amount), refundId: String(description) });
    return { data: { AddRefund: { id: String(sessionId(authority)) } } };
  };

  const operations: Record<string, (body: Record<string, unknown>) => FakeResponse> = {
    request(body) {
      const { amount, currency, description } = body;
      const returnUrl = textOf(body['callback_url']);
      if (!Number.isInteger(amount) || currency !== 'IRR' || !description || !returnUrl)
        return refusal(-9, 'The input params invalid, validation error.');
      if (Number(amount) > 1_000_000_000)
        return refusal(-41, 'Maximum amount is 100,000,000 tomans.');
      const authority = `${prefix}${String(book.size + 1).padStart(35, '0')}`;
      const { order_id: paymentId } = body['metadata'] as { order_id: string };
      const payment = { amount: Number(amount), currency, paymentId, returnUrl };
      book.set(authority, newEntry({ ...payment, state: 'IN_BANK' }));
      return success({ code: 100, message: 'Success', authority, fee_type: 'Merchant', fee: 100 });
    },
    verify({ authority, amount }) {
      const entry = book.get(String(authority));
      if (!entry) return refusal(-54, 'Invalid authority.');
      if (entry.state !== 'PAID' && entry.state !== 'VERIFIED')
        return refusal(-51, 'Session is not valid, session is not active paid try.');
      if (amount !== entry.amount)
        return refusal(-50, 'Session is not valid, amounts values is not the same.');
      const again = entry.state === 'VERIFIED';
      const forget = forgetsRefId;
      forgetsRefId = false;
      if (!again) entry.verified += 1;
      entry.state = 'VERIFIED';
      return success({
        code: again ? 101 : 100,
        message: again ? 'Verified' : 'Paid',
        ...(!(again && forget) && { ref_id: Number(entry.trackingCode) }),
        card_pan: entry.card,
        card_hash: 'C0FFEE',
        fee_type: 'Merchant',
        fee: 0,
        wages: null,
      });
    },
    inquiry({ authority }) {
      const entry = book.get(String(authority));
      if (!entry) return refusal(-54, 'Invalid authority.');
      return success({ code: 100, message: 'Success', status: entry.state });
    },
    unVerified() {
      const authorities = [...book]
        .filter(([, { state }]) => state === 'PAID')
        .map(([authority, { amount, returnUrl }]) => ({
          authority,
          amount,
          callback_url: returnUrl,
          referer: '/',
          date: '2026-11-20 10:00:00',
        }));
      const data = { code: listCode, message: 'Success', authorities: authorities.slice(-100) };
      return { body: { data } };
    },
    reverse({ authority }) {
      const entry = book.get(String(authority));
      if (!entry) return refusal(-54, 'Invalid authority.');
      if (entry.state !== 'VERIFIED') return refusal(-61, 'Session is not in success state.');
      entry.state = 'REVERSED';
      entry.reversed += 1;
      return success({ code: 100, message: 'Reversed' });
    },
  };

  const server = await startFakeProvider(({ method, path, json, headers }) => {
    if (method === 'POST' && path === '/api/v4/graphql/') {
      const isKnown = headers.authorization?.startsWith('Bearer ');
      if (!isKnown) return { status: 401, body: { errors: [{ message: 'Unauthenticated.' }] } };
      return { body: graphql(String(json['query']), json['variables'] as Record<string, unknown>) };
    }
    const [, name = ''] = /^\/pg\/v4\/payment\/(\w+)\.json$/.exec(path) ?? [];
    if (method !== 'POST' || !Object.hasOwn(operations, name)) return undefined;
    if (!/^[\da-f-]{36}$/i.test(String(json['merchant_id'])))
      return refusal(-9, 'The merchant id must be 36 characters.');
    const { response, refusal: code } = script.next(name);
    if (response) return response;
    const { mobile, email } = Object(json['metadata']) as Record<string, string | undefined>;
    const disliked = mobile ?? email;
    if (script.dislikesPayers() && name === 'request' && disliked !== undefined) {
      const field = mobile === undefined ? 'metadata.email' : 'metadata.mobile';
      const validations = [{ [field]: `The ${field} ${disliked} is not valid.` }];
      const message = `The input params invalid: ${disliked}`;
      return { status: 422, body: { data: [], errors: { code: -9, message, validations } } };
    }
    return code === undefined ? operations[name]?.(json) : refusal(code, 'Refused.');
  });

  return {
    ...server,
    ...script.controls,
    ...refundBook,
    book,
    payouts,
    /** Refuses the next refunds, until it is undefined. */
    refuseRefunds: (error: typeof refundError) => {
      refundError = error;
    },
    /** The next call of an operation gets this body and has no effect. */
    replyOnce: (name: string, body: object) => script.controls.respondOnce(name, { body }),
    listCodeAs: (code: unknown) => {
      listCode = code;
    },
    forgetRefIdOnce: () => {
      forgetsRefId = true;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== 'IN_BANK') return;
      entry.state = 'PAID';
      entry.charged += 1;
    },
    back(reference: string) {
      const { returnUrl, state } = entryIn(book, reference);
      const status = state === 'PAID' || state === 'VERIFIED' ? 'OK' : 'NOK';
      return {
        method: 'GET' as const,
        url: `${returnUrl}?Authority=${reference}&Status=${status}`,
      };
    },
  } satisfies Provider & Record<string, unknown>;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const success = (data: object): FakeResponse => ({ body: { data, errors: [] } });

const refusal = (code: number, message: string): FakeResponse => ({
  status: code === -9 ? 422 : 401,
  body: { data: [], errors: { code, message, validations: [] } },
});
