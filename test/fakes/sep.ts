import {
  entryIn,
  newEntry,
  newScript,
  startFakeProvider,
  type Back,
  type Entry,
  type Provider,
  type FakeResponse,
} from './server.ts';

const minuteMs = 60_000;
const names = new Set([
  ...['action', 'TerminalId', 'Amount', 'ResNum', 'RedirectUrl', 'CellNumber'],
  'TokenExpiryInMin',
]);
const statuses: Record<string, number> = { InProgress: 0, CanceledByUser: 1, OK: 2, Failed: 3 };

/** SEP, document 4.1: two-step, and a receipt by token that is gone after an hour, or with a verification. */
export const startSep = async () => {
  const book = new Map<string, Entry>();
  const script = newScript<number>(book);
  /** When a token was made, and when it was paid, by the provider's clock. */
  const madeAt = new Map<string, number>();
  const paidAt = new Map<string, number>();
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  let repeats: 'confirmed' | 'duplicate' = 'confirmed';
  let returnsBy: 'form' | 'query' = 'form';
  let blankInDetail = false;
  let sameRefNum: string | undefined;
  let mistaken: object = {};

  /** A receipt names what an entry has, and this. */
  const told = new Map<string, object>();
  const find = (refNum: unknown) =>
    [...book].find(([token, { trackingCode }]) => paidAt.has(token) && trackingCode === refNum);

  /** Money that nobody verifies within half an hour goes home. */
  const sendHome = () => {
    for (const [token, entry] of book) {
      const isOld = now() > (paidAt.get(token) ?? Infinity) + 30 * minuteMs;
      if (entry.state !== 'OK' || !isOld) continue;
      entry.state = 'Returned';
      entry.reversed += 1;
    }
  };

  const receiptOf = (token: string): FakeResponse => {
    const { state, amount, paymentId, trackingCode } = entryIn(book, token);
    // The receipt stays what it was when money went home.
    const State = state === 'Returned' ? 'OK' : state;
    const isPaid = State === 'OK';
    const isOver = now() > (madeAt.get(token) ?? 0) + 60 * minuteMs;
    if (isOver || State === 'Verified' || State === 'Reversed') return refusedReceipt(404);
    return {
      body: {
        Data: {
          State,
          Status: statuses[State] ?? 9,
          TerminalId: 2015,
          Token: token,
          RefNum: isPaid ? trackingCode : null,
          ResNum: isPaid ? paymentId : null,
          TraceNo: isPaid ? 41350 : 0,
          Amount: isPaid ? amount : 0,
          AffectiveAmount: isPaid ? amount : 0,
          Rrn: isPaid ? 102291665157 : null,
          HashedCardNumber: isPaid ? 'C0FFEE' : null,
          ...told.get(token),
        },
        ...{ HasError: false, ErrorCode: null, ErrorMessage: null, ValidationErrors: null },
      },
    };
  };

  const done = (token: string): FakeResponse => {
    const { amount, trackingCode, card } = entryIn(book, token);
    const time = new Date((paidAt.get(token) ?? 0) + 3.5 * 60 * minuteMs).toISOString();
    const detail = {
      RRN: '102291665157',
      RefNum: trackingCode,
      MaskedPan: card,
      HashedPan: 'C0FFEE',
      TerminalNumber: 2015,
      OrginalAmount: amount,
      AffectiveAmount: amount,
      StraceDate: `${time.slice(0, 10)} ${time.slice(11, 19)}`,
      StraceNo: '41350',
      ...mistaken,
    };
    mistaken = {};
    const key = blankInDetail ? ' TransactionDetail' : 'TransactionDetail';
    blankInDetail = false;
    return { body: { [key]: detail, ResultCode: 0, ResultDescription: 'ok', Success: true } };
  };

  const operations: Record<string, (body: Record<string, unknown>) => FakeResponse> = {
    request(body) {
      const { Amount, ResNum, RedirectUrl, CellNumber, TokenExpiryInMin: minutes } = body;
      const isRight =
        String(body['action']).toLowerCase() === 'token' &&
        Object.keys(body).every((name) => names.has(name)) &&
        Number.isInteger(Amount) &&
        Number(Amount) > 0 &&
        Boolean(ResNum) &&
        /^https?:/.test(String(RedirectUrl)) &&
        Number.isInteger(minutes) &&
        Number(minutes) >= 20 &&
        Number(minutes) <= 3_600 &&
        (CellNumber === undefined || /^"9\d{9}"$/.test(JSON.stringify(CellNumber)));
      if (!isRight) return refusedToken(5, 'parameters are invalid');
      if (body['TerminalId'] !== '2015') return refusedToken(12, 'TerminalNotFound');
      const token = `2c3c1fefac5a48geb9f9be7e${String(book.size).padStart(8, '0')}`;
      const payment = { amount: Number(Amount), currency: 'IRR', paymentId: String(ResNum) };
      const entry = newEntry({ ...payment, returnUrl: String(RedirectUrl), state: 'InProgress' });
      // It is base64, with what a query has to escape.
      book.set(token, { ...entry, trackingCode: `uP+A/X${entry.trackingCode}${book.size}==` });
      madeAt.set(token, now());
      return { body: { status: 1, token } };
    },
    inquiry({ Token, RefNum, TerminalNumber }) {
      if (TerminalNumber !== 2015) return refusedReceipt(12);
      const token = typeof Token === 'string' ? Token : find(RefNum)?.[0];
      return token !== undefined && book.has(token) ? receiptOf(token) : refusedReceipt(404);
    },
    verify({ RefNum, TerminalNumber }) {
      if (TerminalNumber !== 2015) return result(-105);
      const [token, entry] = find(RefNum) ?? [];
      if (token === undefined || !entry) return result(-2);
      if (entry.state === 'Returned') return result(-6);
      if (entry.state === 'Reversed') return result(5);
      if (entry.state === 'Verified') return repeats === 'confirmed' ? done(token) : result(2);
      if (entry.state !== 'OK') return result(-2);
      entry.state = 'Verified';
      entry.verified += 1;
      return done(token);
    },
    reverse({ RefNum, TerminalNumber }) {
      if (TerminalNumber !== 2015) return result(-105);
      const [token, entry] = find(RefNum) ?? [];
      if (token === undefined || !entry) return result(-2);
      if (entry.state === 'Reversed') return result(2);
      const isLate = now() > (paidAt.get(token) ?? 0) + 50 * minuteMs;
      if (entry.state !== 'Verified' || isLate) return result(-99);
      entry.state = 'Reversed';
      entry.reversed += 1;
      return done(token);
    },
  };

  const services = '/verifyTxnRandomSessionkey';
  const paths: Record<string, string> = {
    '/onlinepg/onlinepg': 'request',
    [`${services}/api/v2/ipg/payment/receipt`]: 'inquiry',
    [`${services}/ipg/VerifyTransaction`]: 'verify',
    [`${services}/ipg/ReverseTransaction`]: 'reverse',
  };
  const refused: Record<string, (code: number) => FakeResponse> = {
    request: (code) => refusedToken(code, `code ${code}`),
    inquiry: (code) => refusedReceipt(code),
    verify: (code) => result(code),
    reverse: (code) => result(code),
  };

  const server = await startFakeProvider(({ method, path, json }) => {
    const name = paths[path];
    if (method !== 'POST' || name === undefined) return undefined;
    sendHome();
    const { response, refusal: code } = script.next(name);
    if (response) return response;
    if (script.dislikesPayers() && json['CellNumber'] !== undefined)
      return refusedToken(5, `CellNumber ${JSON.stringify(json['CellNumber'])} is invalid`);
    return code === undefined ? operations[name]?.(json) : refused[name]?.(code);
  });

  return {
    ...server,
    ...script.controls,
    book,
    passTime: (ms: number) => {
      aheadMs += ms;
    },
    /** Sets the answer to a repeated verification. */
    answerRepeatsAs: (as: typeof repeats) => {
      repeats = as;
    },
    returnBy: (how: typeof returnsBy) => {
      returnsBy = how;
    },
    /** The name of the next details begins with a blank, as in the document's example. */
    putBlankInDetailOnce: () => {
      blankInDetail = true;
    },
    /** The receipt of a token has these fields. */
    tell: (reference: string, fields: object) => void told.set(reference, fields),
    /** The details of the next verification have these fields. */
    mistakeOnce: (fields: object) => {
      mistaken = fields;
    },
    /** The next payment that is paid gets the RefNum of this one. */
    repeatRefNum: (reference: string) => {
      sameRefNum = entryIn(book, reference).trackingCode;
    },
    pay(reference: string) {
      const entry = entryIn(book, reference);
      if (entry.state !== 'InProgress') return;
      entry.state = 'OK';
      entry.charged += 1;
      entry.trackingCode = sameRefNum ?? entry.trackingCode;
      sameRefNum = undefined;
      paidAt.set(reference, now());
    },
    back(reference: string): Back {
      const { returnUrl, state, trackingCode, paymentId, amount, card } = entryIn(book, reference);
      const isPaid = paidAt.has(reference);
      const known = { Token: reference, RefNum: isPaid ? trackingCode : '' };
      if (returnsBy === 'query')
        return { method: 'GET', url: `${returnUrl}?${new URLSearchParams(known).toString()}` };
      const State = isPaid ? 'OK' : state === 'InProgress' ? 'Failed' : state;
      const fields = {
        ...{ MID: '0', TerminalId: '2015', State, Status: String(statuses[State]) },
        ...{ RRN: isPaid ? '102291665157' : '', ResNum: paymentId, TraceNo: '41350' },
        ...{ Amount: String(amount), Wage: '', SecurePan: card, HashedCardNumber: 'C0FFEE' },
        ...known,
      };
      return { method: 'POST', url: returnUrl, fields };
    },
  } satisfies Provider & Record<string, unknown>;
};

const refusedToken = (code: number, errorDesc: string): FakeResponse => ({
  body: { status: -1, errorCode: String(code), errorDesc },
});

const refusedReceipt = (ErrorCode: number): FakeResponse => ({
  body: {
    ...{ Data: null, HasError: true, ErrorCode, ErrorMessage: `error ${ErrorCode}` },
    ValidationErrors: null,
  },
});

const result = (ResultCode: number): FakeResponse => ({
  body: {
    ...{ TransactionDetail: null, ResultCode, ResultDescription: `result ${ResultCode}` },
    Success: false,
  },
});
