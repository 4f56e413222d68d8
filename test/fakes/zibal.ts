import {
  entryIn,
  newEntry,
  startFakeProvider,
  type Entry,
  type Provider,
  type FakeResponse,
} from './server.ts';

/** Zibal: two-step, shows a cancel, and responds "already verified" without number and amount. */
export const startZibal = async () => {
  const book = new Map<string, Entry>();
  /** Refusals of the next calls, by operation. */
  const refusals = new Map<string, number[]>();
  let raced: string | undefined;
  let moved: { reference: string; state: string } | undefined;
  let mistakenFor: string | undefined;
  let refNumberAs: (text: string) => unknown = Number;

  const facts = (entry: Entry) => ({
    paidAt: '2026-11-20T10:00:00.000000',
    amount: entry.amount,
    status: Number(entry.state),
    refNumber: entry.charged > 0 ? refNumberAs(entry.trackingCode) : null,
    cardNumber: entry.charged > 0 ? entry.card : null,
    orderId: entry.paymentId,
    description: '',
  });

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
      return result(100, { ...facts(entry), createdAt, verifiedAt: null, wage: 0 });
    },
  };

  const server = await startFakeProvider(({ method, path, json }) => {
    const [, name = ''] = /^\/v1\/(\w+)$/.exec(path) ?? [];
    if (method !== 'POST' || !Object.hasOwn(operations, name)) return undefined;
    if (json['merchant'] !== 'zibal' && json['merchant'] !== 'live-merchant') return result(102);
    const code = refusals.get(name)?.shift();
    if (name === 'verify' && moved) entryIn(book, moved.reference).state = moved.state;
    if (name === 'verify') moved = undefined;
    if (name === 'verify' && raced !== undefined) {
      operations['verify']?.({ trackId: Number(raced) });
      raced = undefined;
    }
    return code === undefined ? operations[name]?.(json) : result(code);
  });

  return {
    ...server,
    book,
    refuse: (name: string, ...codes: number[]) => void refusals.set(name, codes),
    /** Another call verifies the payment just before the next verification. */
    verifyBeforeNextVerify(reference: string) {
      raced = reference;
    },
    /** The response to the next verification is about this payment. */
    mistakeOnce: (paymentId: string) => {
      mistakenFor = paymentId;
    },
    refNumberAs: (form: (text: string) => unknown) => {
      refNumberAs = form;
    },
    /** Sets this state just before the next verification. */
    moveBeforeNextVerify(reference: string, state: string) {
      moved = { reference, state };
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== '-1') return;
      entry.state = '2';
      entry.charged += 1;
    },
    move(reference: string, state: string) {
      entryIn(book, reference).state = state;
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
