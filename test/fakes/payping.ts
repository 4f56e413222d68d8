import type { Entry, Provider, Reply } from './server.ts';
import { entryIn, newEntry, startStandIn } from './server.ts';

/** PayPing v3: tomans, POST return, a verification that may still be settling, reversible payments. */
export const startPayping = async () => {
  const book = new Map<string, Entry>();
  /** The next verifications answer with these statuses. */
  const settling: number[] = [];
  /** The next calls of a name are refused so. */
  const refusals = new Map<string, Refused[]>();
  let conflictHasPayment = true;
  let mistakenFor: string | undefined;
  let moved: { reference: string; state: string } | undefined;
  /** Of payments by their codes: 1 awaits, 2 is complete, 3 is not. */
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
    payerWage: 0,
    businessWage: 0,
    gatewayAmount: entry.amount,
    paypingVat: 0,
  });

  const pay = (body: Record<string, unknown>): Reply => {
    const { amount, returnUrl, clientRefId, isReversible } = body;
    if (!Number.isInteger(amount) || Number(amount) < 1 || Number(amount) > 2_147_483_647)
      return problem(400, 101);
    const paymentCode = `pc${String(book.size + 1).padStart(6, '0')}`;
    const told = { amount: Number(amount), currency: 'IRT', paymentId: String(clientRefId) };
    book.set(paymentCode, newEntry({ ...told, returnUrl: String(returnUrl), state: '0' }));
    if (isReversible !== true) throw new Error('It could never be reversed');
    return { body: spelt({ paymentCode, url: 'https://payping.example/', amount, payerWage: 0 }) };
  };
  const verify = ({ paymentCode, paymentRefId, amount }: Record<string, unknown>): Reply => {
    const entry = book.get(String(paymentCode));
    if (!entry || paymentRefId !== Number(entry.trackingCode)) return problem(400, 122);
    const status = settling.shift();
    if (status !== undefined) return { status, body: {} };
    const told = {
      ...facts(String(paymentCode), entry),
      ...(mistakenFor !== undefined && { clientRefId: mistakenFor }),
    };
    mistakenFor = undefined;
    if (entry.state === '1')
      return problem(409, 110, conflictHasPayment ? spelt(told, capitalised) : undefined);
    if (entry.state !== '5') return problem(400, 121);
    if (amount !== entry.amount) return problem(400, 137);
    entry.state = '1';
    entry.verified += 1;
    return { body: spelt(told) };
  };
  const reverse = ({ paymentCode, paymentRefId }: Record<string, unknown>): Reply => {
    const entry = book.get(String(paymentCode));
    if (entry?.state !== '1' || entry.reversed > 0) return problem(400, 131);
    if (paymentRefId !== Number(entry.trackingCode)) return problem(400, 122);
    entry.reversed += 1;
    return { body: { amount: entry.amount, paymentRefId, code: paymentCode } };
  };
  const report = (paymentCode: string): Reply => {
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
      }),
    };
  };

  const server = await startStandIn(({ method, path, headers, json }) => {
    if (!headers.authorization?.startsWith('bearer ')) return problem(401, 0);
    const [, code] = method === 'GET' ? (/^\/v1\/report\/([^/?]+)$/.exec(path) ?? []) : [];
    const name = code === undefined ? path.replace(/^\/v3\/pay\/?/, '') : 'report';
    const refused = refusals.get(name)?.shift();
    if (name === 'verify' && moved) entryIn(book, moved.reference).state = moved.state;
    if (name === 'verify') moved = undefined;
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
    book,
    settling,
    refuse: (name: string, ...replies: Refused[]) => void refusals.set(name, replies),
    /** Whether "already verified" holds the payment. */
    setConflict: (hasPayment: boolean) => {
      conflictHasPayment = hasPayment;
    },
    /** The next verification answers about another payment. */
    mistakeOnce: (paymentId: string) => {
      mistakenFor = paymentId;
    },
    /** It comes to this state a moment before the next verification. */
    moveBeforeNextVerify(reference: string, state: string) {
      moved = { reference, state };
    },
    refund: (reference: string, status: number) => void refunds.set(reference, status),
    /** As it writes the names of its fields. */
    spellAs: (form: (name: string) => string) => {
      spell = form;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== '0' && entry.state !== '2') return;
      entry.state = '5';
      entry.charged += 1;
    },
    move(reference: string, state: string) {
      entryIn(book, reference).state = state;
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
  /** Null where somebody before the provider answers. */
  code: number | null | 'empty';
}

/** As its document writes the payment of a 409. */
const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** RFC 7807, with the provider's own code. */
const problem = (status: number, code: number, message?: unknown): Reply => ({
  status,
  body: { title: `problem ${code}`, status, metaData: { code, errors: [], message } },
});
