import {
  entryIn,
  newEntry,
  newScript,
  startFakeProvider,
  type Entry,
  type Provider,
  type FakeResponse,
} from './server.ts';

/** PayPing v3: tomans, POST return, verifications that stay in progress, reversible payments. */
export const startPayping = async () => {
  const book = new Map<string, Entry>();
  /** HTTP statuses of the next verifications. */
  const verifyStatuses: number[] = [];
  const script = newScript<Refused>(book);
  let conflictHasPayment = true;
  let wages: object = { payerWage: 0, businessWage: 0 };
  let mistakenFor: string | undefined;
  /** Refund status by payment code: 1 waits, 2 is complete, 3 has failed. */
  const refunds = new Map<string, number>();
  let spell = (name: string) => name;
  const spelt = (body: object, as = spell) =>
    Object.fromEntries(Object.entries(body).map(([name, value]) => [as(name), value]));

  const facts = (code: string, entry: Entry) => ({
    amount: entry.amount,
    cardNumber: entry.card,
    cardHashPan: 'C0FFEE',
    clientRefId: entry.paymentId,
    paymentRefId: Number(entry.trackingCode),
    code,
    payedDate: '2026-11-20 10:00:00Z',
    ...wages,
    gatewayAmount: entry.amount,
    paypingVat: 0,
  });

  const pay = (body: Record<string, unknown>): FakeResponse => {
    const { amount, returnUrl, clientRefId, isReversible } = body;
    if (!Number.isInteger(amount) || Number(amount) < 1 || Number(amount) > 2_147_483_647)
      return problem(400, 101);
    const paymentCode = `pc${String(book.size + 1).padStart(6, '0')}`;
    const payment = { amount: Number(amount), currency: 'IRT', paymentId: String(clientRefId) };
    book.set(paymentCode, newEntry({ ...payment, returnUrl: String(returnUrl), state: '0' }));
    if (isReversible !== true) throw new Error('The payment could never be reversed');
    return { body: spelt({ paymentCode, url: 'https://payping.example/', amount, payerWage: 0 }) };
  };
  const verify = ({ paymentCode, paymentRefId, amount }: Record<string, unknown>): FakeResponse => {
    const entry = book.get(String(paymentCode));
    if (!entry || paymentRefId !== Number(entry.trackingCode)) return problem(400, 122);
    const status = verifyStatuses.shift();
    if (status !== undefined) return { status, body: {} };
    const verified = {
      ...facts(String(paymentCode), entry),
      ...(mistakenFor !== undefined && { clientRefId: mistakenFor }),
    };
    mistakenFor = undefined;
    if (entry.state === '1')
      return problem(409, 110, conflictHasPayment ? spelt(verified, capitalised) : undefined);
    if (entry.state !== '5') return problem(400, 121);
    if (amount !== entry.amount) return problem(400, 137);
    entry.state = '1';
    entry.verified += 1;
    return { body: spelt(verified) };
  };
  const reverse = ({ paymentCode, paymentRefId }: Record<string, unknown>): FakeResponse => {
    const entry = book.get(String(paymentCode));
    if (entry?.state !== '1' || entry.reversed > 0) return problem(400, 131);
    if (paymentRefId !== Number(entry.trackingCode)) return problem(400, 122);
    entry.reversed += 1;
    return { body: { amount: entry.amount, paymentRefId, code: paymentCode } };
  };
  const report = (paymentCode: string): FakeResponse => {
    const entry = book.get(paymentCode);
    if (!entry) return problem(404, 0);
    const { amount, paymentId, state } = entry;
    const refId = entry.charged > 0 ? entry.trackingCode : '';
    return {
      body: spelt({
        amount,
        clientRefId: paymentId,
        refId,
        paymentStatus: Number(state),
        isPaid: state === '1',
        isRefund: refunds.has(paymentCode),
        refundStatus: refunds.get(paymentCode) ?? 0,
        ...wages,
      }),
    };
  };

  const server = await startFakeProvider(({ method, path, headers, json }) => {
    if (!headers.authorization?.startsWith('bearer ')) return problem(401, 0);
    const [, code] = method === 'GET' ? (/^\/v1\/report\/([^/?]+)$/.exec(path) ?? []) : [];
    const name = code === undefined ? path.replace(/^\/v3\/pay\/?/, '') : 'report';
    const { response, refusal: refused } = script.next(name);
    if (response) return response;
    if (script.dislikesPayers() && json['payerIdentity'] !== undefined) {
      const title = `payerIdentity ${JSON.stringify(json['payerIdentity'])} of ${JSON.stringify(json['payerName'])} is invalid`;
      return { status: 400, body: { title, status: 400, metaData: { code: 101, errors: [] } } };
    }
    if (refused?.code === 'empty') return { status: refused.status, body: '' };
    if (refused?.code === null) return { status: refused.status, body: {} };
    if (refused) return problem(refused.status, refused.code);
    if (code !== undefined) return report(decodeURIComponent(code));
    if (method !== 'POST') return undefined;
    if (path === '/v3/pay') return pay(json);
    if (path === '/v3/pay/verify') return verify(json);
    return path === '/v3/pay/reverse' ? reverse(json) : undefined;
  });

  return {
    ...server,
    ...script.controls,
    book,
    verifyStatuses,
    /** Sets whether the response "already verified" includes the payment. */
    setConflict: (hasPayment: boolean) => {
      conflictHasPayment = hasPayment;
    },
    /** The response to the next verification is about this payment. */
    mistakeOnce: (paymentId: string) => {
      mistakenFor = paymentId;
    },
    /** The fields of verifications and reports about its wages. */
    tellWages(told: object) {
      wages = told;
    },
    refund: (reference: string, status: number) => void refunds.set(reference, status),
    /** Sets the spelling of the field names. */
    spellAs: (form: (name: string) => string) => {
      spell = form;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== '0' && entry.state !== '2') return;
      entry.state = '5';
      entry.charged += 1;
    },
    back(reference: string) {
      const { returnUrl, state, trackingCode, amount, paymentId } = entryIn(book, reference);
      const paid = state === '1' || state === '5';
      const data = { clientRefId: paymentId, paymentCode: reference, amount };
      const fields = {
        status: paid ? '1' : '0',
        errorCode: paid ? '' : '9',
        data: JSON.stringify(paid ? { ...data, paymentRefId: Number(trackingCode) } : data),
      };
      return { method: 'POST' as const, url: returnUrl, fields };
    },
  } satisfies Provider & Record<string, unknown>;
};

interface Refused {
  status: number;
  /** Null: a proxy in front of the provider responds. */
  code: number | null | 'empty';
}

/** The spelling of the payment in a 409, as in PayPing's document. */
const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** RFC 7807, with the provider's own code. */
const problem = (status: number, code: number, message?: unknown): FakeResponse => ({
  status,
  body: { title: `problem ${code}`, status, metaData: { code, errors: [], message } },
});
