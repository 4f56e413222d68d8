import { currencyExponents, spellNumbers } from '../../contract/money.ts';
import type { ListPage } from '../../contract/list.ts';
import { isoTime } from '../../contract/time.ts';
import {
  createAdminPayouts,
  type PaidOutLine,
  type PaidOutSum,
  type PayoutFilter,
  type PayoutRecord,
} from '../../postgres/admin/payouts.ts';
import { NotFound } from './change.ts';
import { csvOf, decimalOf } from './csv.ts';
import type { Deps } from './deps.ts';
import { checkGateway } from './gateways.ts';

export interface PayoutsAsked extends Omit<PayoutFilter, 'find'> {
  /** The amount or the text of a bank statement's line, as a person types it. Null: any. */
  text: string | null;
}

export interface PayoutSums {
  sums: PaidOutSum[];
  /** The payout less the sum of its lines, in minor units: 0 once all are here. Null: the gateway has not listed them. */
  rest: number | null;
}

const linesAtOnce = 1_000;
const wordsMax = 50;
const descriptorWordsMax = 6;
const numbersMax = 5;

/** Payouts of gateways, from the bank's line to the payment. */
export const createPayoutOperations = ({ sql }: Pick<Deps, 'sql'>) => {
  const payouts = createAdminPayouts(sql);

  const get = async (gateway: string, id: string): Promise<PayoutRecord> => {
    await checkGateway(sql, gateway);
    const payout = await payouts.get(gateway, id);
    if (!payout) throw new NotFound(`There is no payout "${id}" of ${gateway}.`);
    return payout;
  };

  return {
    async list({ text, ...filter }: PayoutsAsked, page: ListPage): Promise<PayoutRecord[]> {
      if (filter.gateway !== null) await checkGateway(sql, filter.gateway);
      if (text === null) return payouts.list({ ...filter, find: null }, page);
      const find = readBankLine(text);
      const [known] = await payouts.list({ ...filter, find }, { after: null, limit: 1 });
      // Many payouts of an account have one text, so it counts only where nothing tells them apart.
      return payouts.list({ ...filter, find: known ? find : readDescriptors(text) }, page);
    },

    get,

    async sum({ gateway, id, amount, currency, isRead }: PayoutRecord): Promise<PayoutSums> {
      const sums = await payouts.sum(gateway, id);
      const paidOut = sums
        .filter((each) => each.currency === currency)
        .reduce((all, { net }) => all + net, 0);
      return { sums, rest: isRead ? amount - paidOut : null };
    },

    /** The lines after an id, the payout itself included. */
    lines: ({ gateway, id }: PayoutRecord, page: { after: string; limit: number }) =>
      payouts.lines(gateway, id, page),

    /** The lines of a CSV file with what it has paid out. The sum of the column `net` is 0 once all lines are here. */
    async *exportLines({ gateway, id }: PayoutRecord): AsyncGenerator<string> {
      yield columns.heading;
      for (let after = ''; ;) {
        const page = await payouts.lines(gateway, id, { after, limit: linesAtOnce });
        const last = page.at(-1);
        if (!last) return;
        yield page.map((line) => columns.line(line, { gateway, id })).join('');
        after = last.id;
      }
    },
  };
};

const columns = csvOf<[PaidOutLine, Pick<PayoutRecord, 'gateway' | 'id'>]>({
  payout: (_, { id }) => id,
  gateway: (_, { gateway }) => gateway,
  line_id: ({ id }) => id,
  kind: ({ kind }) => kind,
  type: ({ type }) => type,
  category: ({ category }) => category,
  occurred_at: ({ at }) => isoTime(at),
  payment_id: ({ paymentId }) => paymentId,
  refund_id: ({ refundId }) => refundId,
  order_id: ({ orderId }) => orderId,
  application: ({ application }) => application,
  reference: ({ source }) => source,
  currency: ({ currency }) => currency,
  amount: ({ amount, currency }) => decimalOf({ amount, currency }),
  fee: ({ fee, currency }) => decimalOf({ amount: fee, currency }),
  net: ({ net, currency }) => decimalOf({ amount: net, currency }),
  net_minor: ({ net }) => net,
});

/**
 * Reads what a line of a bank statement says: words that may be a reference, and the amounts that its numbers may mean. A
 * bank writes 1504.62 as `1,504.62`, `1.504,62` or `1504,62`, with the currency or without.
 */
export const readBankLine = (text: string): NonNullable<PayoutFilter['find']> => {
  // The reference of a bank may have commas.
  const split = [...text.split(/[\s,;:/"'()]+/), ...text.split(/\s+/)];
  const words = [...new Set(split)].filter((word) => word !== '');
  const named = words.filter((word) => currencyExponents.has(word.toUpperCase()));
  const currencies = new Set(named.map((word) => word.toUpperCase()));
  const amounts = [
    ...spellNumbers(text).matchAll(/(?<![\w.,])[+-]?(\d[\d.,']*)(?=\s|$|[;:]|[€$£¥]|[A-Z]{3}\b)/gi),
  ]
    .slice(0, numbersMax)
    .flatMap(([, number = '']) => readings(number))
    .filter(({ currency }) => currencies.size === 0 || currencies.has(currency));
  return {
    words: [...new Set(words.slice(0, wordsMax).flatMap((word) => [word, word.toUpperCase()]))],
    amounts,
    descriptors: [],
  };
};

/** The texts that a bank may have from the gateway: each run of some words. */
const readDescriptors = (text: string): NonNullable<PayoutFilter['find']> => {
  const words = text.trim().split(/\s+/).slice(0, wordsMax);
  const runs = words.flatMap((_, from) =>
    Array.from({ length: descriptorWordsMax }, (_of, more) =>
      words
        .slice(from, from + more + 1)
        .join(' ')
        .toUpperCase(),
    ),
  );
  return { words: [], amounts: [], descriptors: [...new Set(runs)] };
};

/** Whether the last separator begins the decimals or another group of thousands, the currency decides. */
const readings = (number: string): { amount: number; currency: string }[] => {
  const parts = number.replace(/[.,']$/, '').split(/[.,']/);
  const decimals = parts.length > 1 ? (parts.at(-1) ?? '') : '';
  return [...currencyExponents].flatMap(([currency, exponent]) => {
    const digits = parts.join('');
    const asDecimals = decimals !== '' && decimals.length === exponent ? Number(digits) : null;
    const isGrouped = parts.slice(1).every((part) => part.length === 3);
    const asWhole = isGrouped ? Number(digits) * 10 ** exponent : null;
    return [asDecimals, asWhole]
      .filter((amount) => amount !== null && Number.isSafeInteger(amount))
      .map((amount) => ({ amount: Number(amount), currency }));
  });
};
