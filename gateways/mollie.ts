import { z } from 'zod';
import { toDecimal } from './amount.ts';
import type { Call, HttpResponse } from './call.ts';
import { escapedPath, parseResponse } from './call.ts';
import { describePayment } from './description.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type {
  Account,
  BookPage,
  Capabilities,
  GatewayAdapter,
  GatewayPayment,
  KnownRefund,
  OpenedPayment,
  OpenResult,
  Tools,
} from './gateway.ts';
import { defineDriver } from './gateway.ts';
import {
  balancesPath,
  parseBalances,
  parseBook,
  parsePosition,
  positionText,
  transactionsPath,
} from './mollie-book.ts';
import { mollieCurrencies, toMinor } from './mollie-currencies.ts';
import { chargebacksPath, parseChargebacks } from './mollie-disputes.ts';
import { mollieLocaleOf } from './mollie-locales.ts';
import { isAboutAmount, parseRefund, parseRefunds, refundsPath } from './mollie-refunds.ts';
import {
  checkMode,
  isOfKind,
  modeOf,
  parsePayment,
  type Payment,
  Problem,
  toStatus,
} from './mollie-responses.ts';
import { parseSettlement, settlementPath } from './mollie-settlements.ts';
import { sentFields } from './payer.ts';
import { providerMessage } from './redact.ts';

const host = 'https://api.mollie.com';

/** 2,500 refunds of a payment. All calls of a try have 20 seconds. */
const mostRefundPages = 10;

const capabilities: Capabilities = {
  currencies: mollieCurrencies,
  // A create has no field for it: each method has an expiry of its own. Our call of `expire` ends it at an earlier deadline.
  expirySeconds: { min: 60, max: 86_400 },
  twoStepVerify: false,
  // Mollie sends refunds on the next business day, see its help article 115000014489. A card's bank may need ten more (from
  // memory).
  returnTime: { days: 14 },
  reportsFees: false,
  reportsReversals: true,
  reversal: null,
  refund: {
    partial: true,
    several: 'parallel',
    least: 1,
    // It depends on the method: 70 days to none. Mollie refuses a later one.
    windowMs: null,
    // Mollie forgets a key after 24 hours (source: "API idempotency" of docs.mollie.com). Later the list of refunds, which the
    // service reads before it tells again, has our id in the metadata.
    keyed: true,
    credentials: null,
  },
};

const Credentials = z.strictObject({
  apiKey: z.string().regex(/^(test|live)_[A-Za-z0-9]{4,300}$/),
  /** Of the organization. Only it may read the balances and the settlements. */
  accessToken: z
    .string()
    .regex(/^access_[A-Za-z0-9]{4,300}$/)
    .optional(),
  baseUrl: z.string().optional(),
});
type Credentials = z.output<typeof Credentials>;

export const mollie = defineDriver({
  capabilities,
  credentials: Credentials,
  takesReports: true,
  connect(account, tools): GatewayAdapter {
    const { kind } = account;
    const { now } = tools;
    const client = createClient(account, tools);
    const { send, retrieve, listRefunds, refund } = client;

    const inquire = async (payment: OpenedPayment) => {
      const found = await retrieve(payment);
      return toStatus(found, found.status === 'paid' ? await listRefunds(payment) : []);
    };

    return {
      inquire,
      // One step: Mollie captures the money without a confirmation.
      verify: inquire,

      async open(payment) {
        const json = toJson(payment);
        // A second payment is harmless: payers are sent to the recorded one. Mollie keeps the first answer to a key, which may
        // be its own error, and refuses another body with the key. So each minute and each body gets another one.
        const minute = Math.floor(now().getTime() / 60_000);
        const key = ['open', payment.id, minute, ...Object.keys(json)].join(':');
        const request = { method: 'POST', path: '/v2/payments', json } as const;
        const response = await send('create', request, key);
        if (response.status !== 201) return parseOpeningRefusal(response);
        const opened = parsePayment(response, 'create', { id: payment.id });
        if (!isOfKind(kind, opened))
          return { result: 'refused', code: 'test_mode_guard', message: `Not a ${kind} payment` };
        const { id, _links: links } = opened;
        const url = links.checkout?.href;
        if (url === undefined)
          throw new GatewayUnavailable('mollie, create: the response has no page for the payer');
        return { result: 'opened', reference: id, redirect: { method: 'GET', url } };
      },

      async expire({ id, reference }) {
        const path = escapedPath`/v2/payments/${reference}`;
        const response = await send('cancel', { method: 'DELETE', path });
        if (response.status === 200)
          return parsePayment(response, 'cancel', { id, reference }).status === 'canceled';
        parseResponse(Problem, response, 'mollie, cancel');
        // It can no longer be canceled, or its method cannot.
        if (response.status === 422) return false;
        throw unexpected('cancel', response);
      },

      async reverse(payment) {
        const found = await retrieve(payment);
        const refunds = await listRefunds(payment);
        const amount = found.status === 'paid' ? restOf(found, refunds) : undefined;
        if (!amount) return { result: 'refused', ...providerMessage(null, 'No money is left') };
        // Some methods give back more than was paid, so Mollie does not refuse a second refund. The count of those that it has
        // shown keeps the key of a call without an answer.
        const key = `reverse:${payment.id}:${refunds.length}`;
        const answer = await refund(payment, { amount, key, metadata: {} });
        if (answer.result === 'refused') return answer;
        const { state, code, message } = answer.refund;
        if (state === 'failed') return { result: 'refused', code, message };
        return { result: state === 'succeeded' ? 'reversed' : 'pending' };
      },

      refund(payment, { id, amount }) {
        const value = toDecimal(capabilities, { amount, currency: payment.currency });
        return refund(payment, {
          amount: { value, currency: payment.currency },
          key: id,
          metadata: { refund_id: id },
        });
      },

      refunds: listRefunds,

      async disputes({ reference }) {
        const path = chargebacksPath(reference);
        const response = await send('list_chargebacks', { method: 'GET', path });
        return parseChargebacks(response, reference);
      },

      ...bookOf(account, client.sendFor),
    };
  },
});

/** The calls that need the organization's token. An account without it has no book. */
const bookOf = (
  { kind, credentials: { accessToken } }: Account<Credentials>,
  sendFor: (token: string) => Send,
): Pick<GatewayAdapter, 'book' | 'payout'> => {
  if (accessToken === undefined) return {};
  const send = sendFor(accessToken);
  const get = (operation: string, path: string) => send(operation, { method: 'GET', path });
  /** The balance that follows; undefined after the last one. */
  const balanceAfter = async (last: string | null): Promise<string | undefined> => {
    const balances = parseBalances(await get('balances', balancesPath(kind)), kind);
    return balances.find((balance) => last === null || balance > last);
  };
  return {
    async book(period, after): Promise<BookPage> {
      const position =
        after === null ? { balance: await balanceAfter(null), from: null } : parsePosition(after);
      const { balance } = position;
      if (balance === undefined) return { entries: [], lines: [], next: null };
      const path = transactionsPath(kind, { ...position, balance });
      const page = parseBook(await get('book', path), period);
      if (page.next !== null) return { ...page, next: positionText({ balance, from: page.next }) };
      const following = await balanceAfter(balance);
      const next =
        following === undefined ? null : positionText({ balance: following, from: null });
      return { ...page, next };
    },

    async payout(id) {
      return parseSettlement(await get('settlement', settlementPath(id)), id);
    },
  };
};

type Send = (
  operation: string,
  request: Omit<Call, 'headers' | 'operation'>,
  idempotencyKey?: string,
) => Promise<HttpResponse>;

interface MollieRefund {
  amount: Payment['amount'];
  key: string;
  metadata: Record<string, string>;
}

const createClient = ({ kind, credentials }: Account<Credentials>, { callsTo }: Tools) => {
  const { apiKey, baseUrl } = credentials;
  if (!apiKey.startsWith(`${modeOf(kind)}_`))
    throw new AccountProblem(`The key does not belong to a ${kind} account`);
  const call = callsTo({ provider: 'mollie', baseUrl: host, override: baseUrl });

  const sendFor =
    (token: string): Send =>
    (operation, request, idempotencyKey) =>
      call({
        operation,
        ...request,
        headers: {
          authorization: `Bearer ${token}`,
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
      });
  const send = sendFor(apiKey);

  const retrieve = async ({ id, reference }: OpenedPayment): Promise<Payment> => {
    const path = escapedPath`/v2/payments/${reference}`;
    const response = await send('retrieve', { method: 'GET', path });
    if (response.status !== 200) throw unexpected('retrieve', response);
    const found = parsePayment(response, 'retrieve', { id, reference });
    checkMode(kind, found);
    return found;
  };

  const listRefunds = async ({ reference }: OpenedPayment): Promise<KnownRefund[]> => {
    const path = `${refundsPath(reference)}?limit=250`;
    const all: KnownRefund[] = [];
    let after = '';
    for (let page = 1; page <= mostRefundPages; page += 1) {
      const response = await send('list_refunds', { method: 'GET', path: path + after });
      const { refunds, next } = parseRefunds(response, { kind, reference });
      all.push(...refunds);
      if (next === null) return all;
      after = `&${new URLSearchParams({ from: next }).toString()}`;
    }
    throw new GatewayUnavailable('mollie, refunds: the list is too long');
  };

  const refund = async (payment: OpenedPayment, { amount, key, metadata }: MollieRefund) => {
    const { id, reference } = payment;
    const json = {
      amount,
      description: describe(payment),
      metadata: { payment_id: id, ...metadata },
    };
    const request = { method: 'POST', path: refundsPath(reference), json } as const;
    return parseRefund(await send('refund', request, key), { kind, reference });
  };

  return { sendFor, send, retrieve, listRefunds, refund };
};

/** Undefined if nothing is left. The whole amount stays as Mollie wrote it, also in a currency that is not known here. */
const restOf = (
  { amount }: Payment,
  refunds: readonly KnownRefund[],
): Payment['amount'] | undefined => {
  const given = refunds.reduce(
    (sum, { state, amount: of }) => sum + (state === 'failed' ? 0 : of),
    0,
  );
  if (given === 0) return amount;
  const { currency } = amount;
  const rest = toMinor(amount) - given;
  return rest > 0
    ? { value: toDecimal(capabilities, { amount: rest, currency }), currency }
    : undefined;
};

const toJson = (payment: GatewayPayment) => ({
  amount: { value: toDecimal(capabilities, payment), currency: payment.currency },
  description: describe(payment),
  redirectUrl: payment.returnUrl,
  ...(payment.reportUrl && { webhookUrl: payment.reportUrl }),
  metadata: { payment_id: payment.id },
  ...payerFields(payment),
});

/** No customer is made, which would keep the payer at Mollie. A locale that Mollie lacks leaves the choice to the browser. */
const payerFields = ({ payer }: GatewayPayment) => {
  const billingAddress = sentFields({
    email: payer?.email,
    // Mollie takes E.164 alone.
    phone: payer?.mobile?.startsWith('+') ? payer.mobile : undefined,
  });
  return {
    ...(Object.keys(billingAddress).length > 0 && { billingAddress }),
    ...sentFields({ locale: payer?.locale && mollieLocaleOf(payer.locale) }),
  };
};

/** Spreading never cuts a code point. */
const describe = (payment: GatewayPayment): string =>
  [...describePayment(payment)].slice(0, 255).join('');

/**
 * The key is wrong or lacks the right, or the request cannot be carried out as it is. Any other error is no outcome: it may
 * pass on a retry. Source: the OpenAPI document.
 * @throws GatewayUnavailable
 */
const parseOpeningRefusal = (response: HttpResponse): OpenResult => {
  const { status } = response;
  const { title, detail, field } = parseResponse(Problem, response, 'mollie, create');
  if (![401, 403, 422].includes(status)) throw unexpected('create', response);
  return {
    result: 'refused',
    ...providerMessage(field ?? title, detail),
    ...(/^(?:billingAddress|locale)\b/.test(field ?? '') && { isAboutPayer: true }),
    ...(status === 422 && isAboutAmount(field) && { failureCode: 'amount_not_accepted' }),
  };
};

const unexpected = (operation: string, { status }: HttpResponse) =>
  new GatewayUnavailable(`mollie, ${operation}: unexpected response, HTTP ${status}`);
