import { decodeTime } from 'ulid';
import { z } from 'zod';
import { amountBounds, formatMoney } from '../contract/money.ts';
import { minuteMs } from '../contract/time.ts';
import { fromWire, toWire } from './amount.ts';
import { escapedPath } from './call.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  Capabilities,
  GatewayAdapter,
  GatewayStatus,
  OpenedPayment,
  Reversal,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import { reversedPayment } from './known-refund.ts';
import { iranianMobile, sentFields } from './payer.ts';
import { failed, maskedPan, providerMessage } from './redact.ts';
import {
  accountRefusals,
  codes,
  type Detail,
  parseOpening,
  parseReceipt,
  parseResult,
  type Receipt,
  RefNum,
  type Result,
  unexpected,
} from './sep-responses.ts';

/* Source: SEP's technical document 4.1 of January 2025. A comment names another source. */
const host = 'https://sep.shaparak.ir';

/** The receipt can be read for so long after the token, and only until a verification or a reversal. */
const receiptMs = 60 * minuteMs;
/**
 * The money of a payment that nobody has verified is back so long after the deadline: a token lives for 20 minutes at
 * least, the payer may be at the bank when it ends, and SEP gives the money back after 30 minutes.
 */
const everythingIsBackMs = 90 * minuteMs;
const shortestTokenMinutes = 20;

const capabilities: Capabilities = {
  // The minimum is from a third party, of SEP's answers to merchants. No maximum is known.
  currencies: new Map([['IRR', { wireExponent: 0, min: 2_000, max: amountBounds.max, step: 1 }]]),
  // A token may live for 3,600 minutes. With the quarter of an hour in which an expired payment is asked about, the
  // receipt tells the state of this one to its end, also where the browser is lost.
  expirySeconds: { min: 60, max: 2_700 },
  twoStepVerify: true,
  returnTime: { minutes: 30 },
  reportsFees: false,
  // A verification that is repeated after a reversal may be answered with 5, or with 2 as one of captured money.
  reportsReversals: false,
  // 50 minutes after the payment, which the sweeper may verify ten minutes later than it was made.
  reversal: { windowMs: 40 * minuteMs },
  refund: null,
};

const Credentials = z.strictObject({
  // A number in some calls.
  terminalId: z.string().regex(/^[1-9]\d{0,14}$/),
  legacyTls: z.literal(true).optional(),
  baseUrl: z.string().optional(),
});

/** A `+` of base64 that the query does not escape is read as a blank. */
const base64In = (fields: URLSearchParams, name: string) => fields.get(name)?.replaceAll(' ', '+');

/** The payment also claims a RefNum with this before it, if the receipt of its own token has named it with its amount. */
const ownReceipt = 'receipt ';

export const sep = defineDriver({
  capabilities,
  credentials: Credentials,

  // Document 4.1 brings `Token` and `RefNum` by a query, or in another chapter by a POST. The older documents bring a form.
  parseReturn(fields) {
    const state = fields.get('State');
    if (state === 'CanceledByUser') return 'cancelled';
    if (state === null && !fields.has('Token')) return 'nothing';
    const isPaid = state === null || state === 'OK';
    return isPaid && fields.get('RefNum') ? 'paid' : 'unpaid';
  },

  readProof(fields, { id, reference }) {
    const token = base64In(fields, 'Token') ?? reference;
    const resNum = fields.get('ResNum') ?? id;
    const isNamed = fields.has('Token') || fields.has('ResNum');
    if (!isNamed || token !== reference || resNum !== id) return undefined;
    return RefNum.safeParse(base64In(fields, 'RefNum')).data;
  },

  connect(account, tools): GatewayAdapter {
    const { open, receiptOf, confirm, undo } = createClient(account, tools);
    const { claimProof, claimedProofs, now } = tools;

    /** The RefNum that is certain to be of this payment, and whatever else it has claimed. */
    const findRefNum = async ({ id, trackingCode }: OpenedPayment) => {
      const claims = await claimedProofs(id);
      const own = claims.find((claim) => claim.startsWith(ownReceipt))?.slice(ownReceipt.length);
      return { refNum: trackingCode ?? own, claims };
    };

    /** This payment has claimed nothing, so its money was never verified. */
    const withoutMoney = ({ expiresAt }: OpenedPayment): GatewayStatus => {
      if (now().getTime() > expiresAt.getTime() + everythingIsBackMs) return { state: 'expired' };
      throw new GatewayUnavailable('sep, receipt: there is none, and money may be there');
    };

    /** Verifies a RefNum that only the payer's browser has brought. Undefined: it is of no use. */
    const verifyReturned = async (payment: OpenedPayment, refNum: string) => {
      if (await receiptOf({ RefNum: refNum }, payment))
        throw new GatewayUnavailable('sep, receipt: a RefNum has one, and its token has none');
      if (!(await claimProof(payment.id, refNum))) return undefined;
      const { code, detail } = await confirm(refNum);
      const isUseless =
        code === codes.unknownRefNum || code === codes.tooLate || code === codes.reversed;
      if (isUseless) return undefined;
      // An old RefNum must not pay a new order. Without the details nothing says what it has paid.
      if (!detail || !isPaidSince(detail, payment)) throw unexpected('verify', code);
      return paid(payment, refNum, detail);
    };

    const reverse = async (payment: OpenedPayment): Promise<Reversal> => {
      const { refNum } = await findRefNum(payment);
      if (refNum === undefined)
        return { result: 'refused', ...providerMessage(null, 'It was not paid') };
      const { code, message } = await undo(refNum);
      if (accountRefusals.has(code))
        return { result: 'refused', ...providerMessage(code, message) };
      const isDone =
        code === codes.done ||
        // The document does not say whether that is a repeated reversal.
        (code === codes.repeated && (await confirm(refNum)).code === codes.reversed);
      if (isDone) return { result: 'reversed' };
      throw unexpected('reverse', code);
    };

    return {
      open,
      reverse,

      async inquire(payment) {
        const receipt = await receiptOf({ Token: payment.reference }, payment);
        if (receipt) return toStatus(receipt);
        const { refNum, claims } = await findRefNum(payment);
        if (refNum === undefined && claims.length === 0) return withoutMoney(payment);
        // Within its hour, a receipt ends with a verification alone: another one takes nothing.
        const isTaken =
          payment.trackingCode || now().getTime() < createdAt(payment) + receiptMs - minuteMs;
        if (refNum === undefined || !isTaken)
          throw new GatewayUnavailable('sep, receipt: there is none, and money may be taken');
        return toOutcome(payment, refNum, await confirm(refNum));
      },

      async verify(payment, mayTake) {
        const receipt = await receiptOf({ Token: payment.reference }, payment);
        if (!receipt) {
          const { refNum, claims } = await findRefNum(payment);
          // An earlier verification has lost its answer.
          if (refNum !== undefined) return toOutcome(payment, refNum, await confirm(refNum));
          const proof = payment.returnProof ?? undefined;
          if (claims.some((claim) => claim !== proof))
            throw new GatewayUnavailable('sep, verify: it was asked with another RefNum before');
          if (proof === undefined) return withoutMoney(payment);
          if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
          return (await verifyReturned(payment, proof)) ?? withoutMoney(payment);
        }
        if (receipt.State !== 'OK') return toStatus(receipt);
        const { RefNum: refNum, Amount: asked, AffectiveAmount: charged } = receipt;
        const amount = amountOf(payment, asked, charged);
        // Another amount is not verified, and goes back to the payer by itself.
        if (amount !== toWire(capabilities, payment))
          return failed('amount_mismatch', null, formatMoney({ amount, currency: 'IRR' }));
        if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
        // SEP confirms a RefNum to whoever asks: that it is used once is up to us. A receipt names one RefNum for ever.
        if (!(await claimProof(payment.id, refNum)))
          return failed('gateway_error', 'ref_num_used', 'Another payment has used its RefNum');
        await claimProof(payment.id, `${ownReceipt}${refNum}`);
        const result = await confirm(refNum);
        const isTooLate =
          result.code === codes.tooLate &&
          // It is still there, so no other call has verified the payment meanwhile.
          (await receiptOf({ Token: payment.reference }, payment)) !== undefined;
        if (isTooLate) return failed('payment_reversed', result.code, result.message);
        return toOutcome(payment, refNum, result);
      },

      async refund(payment, { isReversible }) {
        const reversal: Reversal = isReversible
          ? await reverse(payment)
          : { result: 'refused', ...providerMessage(null, 'The time of a reversal is over') };
        return reversal.result === 'refused'
          ? { ...reversal, failureCode: 'not_refundable' }
          : { result: 'accepted', refund: reversedPayment(payment) };
      },

      async refunds(payment) {
        const { refNum } = await findRefNum(payment);
        const code = refNum === undefined ? codes.done : (await confirm(refNum)).code;
        if (code === codes.reversed) return [reversedPayment(payment)];
        // The money may still be there. The last two may hide that it went back, so a reversal is tried once.
        if (code === codes.done || code === codes.repeated || code === codes.tooLate) return [];
        throw unexpected('verify', code);
      },
    };
  },
});

/**
 * A third-party client calls SEP so: https://github.com/shetabit/multipay, `src/Drivers/SEP`. The document asks for no such
 * thing, and others do without it.
 */
const legacyTls = { tls: { ciphers: 'DEFAULT@SECLEVEL=1' } } as const;

const createClient = (
  {
    kind,
    credentials: { terminalId, baseUrl, ...credentials },
  }: Account<z.output<typeof Credentials>>,
  tools: Tools,
) => {
  if (kind === 'sandbox' && baseUrl === undefined)
    throw new AccountProblem('SEP has no sandbox: a sandbox account would take real money');
  const call = tools.callsTo({
    ...{ provider: 'sep', baseUrl: host, override: baseUrl },
    ...(credentials.legacyTls && legacyTls),
  });
  const origin = baseUrl ? new URL(baseUrl).origin : host;
  const services = '/verifyTxnRandomSessionkey';
  const post = (operation: string, path: string, json: object) =>
    call({ operation, method: 'POST', path, json });

  const ask = async (operation: string, name: string, refNum: string) => {
    const json = { RefNum: refNum, TerminalNumber: Number(terminalId) };
    const response = await post(operation, `${services}/ipg/${name}`, json);
    return parseResult(operation, response, { refNum, terminalId });
  };

  const open: GatewayAdapter['open'] = async (payment) => {
    const minutes = Math.ceil((payment.expiresAt.getTime() - tools.now().getTime()) / minuteMs);
    // Names as in the document's example: it has some of them twice, and case counts.
    const response = await post('token', '/onlinepg/onlinepg', {
      action: 'token',
      TerminalId: terminalId,
      Amount: toWire(capabilities, payment),
      ResNum: payment.id,
      RedirectUrl: payment.returnUrl,
      TokenExpiryInMin: Math.max(minutes, shortestTokenMinutes),
      // Without the zero, as in the example.
      ...sentFields({ CellNumber: iranianMobile(payment.payer)?.slice(1) }),
    });
    const opening = parseOpening(response);
    if ('result' in opening) return opening;
    const url = `${origin}${escapedPath`/OnlinePG/SendToken?token=${opening.token}`}`;
    return { result: 'opened', reference: opening.token, redirect: { method: 'GET', url } };
  };

  /** @throws GatewayUnavailable for a receipt of another payment */
  const receiptOf = async (
    key: { Token: string } | { RefNum: string },
    { id, reference }: OpenedPayment,
  ): Promise<Receipt | undefined> => {
    const response = await post('receipt', `${services}/api/v2/ipg/payment/receipt`, {
      ...key,
      TerminalNumber: Number(terminalId),
    });
    const receipt = parseReceipt(response);
    const isOurs =
      !receipt ||
      (receipt.Token === reference &&
        receipt.TerminalId === terminalId &&
        (receipt.State !== 'OK' || receipt.ResNum === id));
    if (isOurs) return receipt;
    throw new GatewayUnavailable('sep, receipt: it is about another payment');
  };

  return {
    open,
    receiptOf,
    // Some packages of SEP spell it `VerifyTranscation`, says a third party: the document does not.
    confirm: (refNum: string) => ask('verify', 'VerifyTransaction', refNum),
    undo: (refNum: string) => ask('reverse', 'ReverseTransaction', refNum),
  };
};

const createdAt = ({ id }: OpenedPayment): number => decodeTime(id.slice('PAY_'.length));

/** The document does not say the zone of the time: it is read as UTC, which is later than Tehran's. */
const isPaidSince = ({ StraceDate: text }: Detail, payment: OpenedPayment): boolean =>
  Date.parse(`${text?.replace(' ', 'T')}Z`) >= createdAt(payment) - minuteMs;

/** The one of two amounts that is not ours, if there is one: what we asked for, and what the card has paid. */
const amountOf = (payment: OpenedPayment, asked: number, charged: number): number =>
  asked === toWire(capabilities, payment) ? charged : asked;

const toStatus = (receipt: Receipt): GatewayStatus => {
  switch (receipt.State) {
    case 'InProgress':
      return { state: 'waiting' };
    case 'OK':
      return { state: 'processing' };
    case 'CanceledByUser':
      return { state: 'cancelled' };
    case 'Failed':
      return failed('payment_not_completed', receipt.State);
  }
};

/** @throws GatewayUnavailable for a code that says nothing for certain about a RefNum of this payment */
const toOutcome = (
  payment: OpenedPayment,
  refNum: string,
  { code, message, detail }: Result,
): GatewayStatus => {
  if (code === codes.done || code === codes.repeated) return paid(payment, refNum, detail);
  if (code === codes.reversed)
    return { ...failed('payment_reversed', code, message), trackingCode: refNum };
  throw unexpected('verify', code);
};

/** @param detail without it, the amount is that of the receipt: another one was never verified */
const paid = (payment: OpenedPayment, refNum: string, detail?: Detail): GatewayStatus => ({
  state: 'paid',
  amount: fromWire(capabilities, {
    amount: detail
      ? amountOf(payment, detail.OrginalAmount, detail.AffectiveAmount)
      : toWire(capabilities, payment),
    currency: 'IRR',
  }),
  currency: 'IRR',
  trackingCode: refNum,
  cardPanMasked: maskedPan(detail?.MaskedPan),
});
