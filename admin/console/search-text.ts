import { asciiDigits } from '../../contract/digits.ts';
import { currencyExponents, parseMoneyOf, spellMoney } from '../../contract/money.ts';
import { hasCardNumber } from '../operations/change.ts';

/** The meanings of a typed text, beside an order or a reference that is exactly this text. */
export interface SearchMeaning {
  /** Without spaces, quotes and brackets around it. */
  text: string;
  /** The text, then without a word like "Order #" before it, then with the digits 0 to 9. */
  texts: readonly string[];
  /** The end of a card's number. */
  card: string | null;
  money: { amount: number; currency: string } | null;
  /** Why a number is no amount. */
  moneyProblem: string | null;
  /** The beginning of an id of this kind; null: of either. */
  idPrefix: { kind: 'PAY' | 'REFUND' | null; part: string } | null;
  /** The end of an id. */
  idSuffix: string | null;
  eventPrefix: string | null;
  /** The text has a whole card number, which no page and no address shows. */
  isCardNumber: boolean;
}

const around = /^[\s"'`“”„‟‘’«»‹›<>()[\]{}]+|[\s"'`“”‘’«»‹›<>()[\]{},;]+$|(?<!\.)[.!?]$/g;
const idPartMin = 6;
/** `Order #77`, `order no. 77`, `#77`, `Bestellnummer 77`, `شماره سفارش: ۷۷`. In the languages of payers' pages. */
const wordBefore =
  /^(?:(?:your|ihre|(?:شماره|رقم)(?=\s)|)\s*(?:order|invoice|reference|ref|tracking code|bestellung|bestell-?(?:nummer|nr)|sipariş|سفارش|(?:ال)?طلب)(?:\s+(?:id|no|nr|number|numarası|شماره|رقم))?(?:\s*[:#.]\s*|\s+)#?|#)\s*/iu;

/** The units of payers' pages, where a toman is ten rials. */
const unitWord = /\s*(?:rials?|ریال|ريال(?: إيراني)?|[iİ]ran riyali|(?<toman>tomans?|تومان))$/iu;
const rialsOfToman = 10;

/** Marks that turn the direction of what is copied from a page. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const readMoney = (text: string): Pick<SearchMeaning, 'money' | 'moneyProblem'> => {
  const none = { money: null, moneyProblem: null };
  const spelled = spellMoney(text);
  const unit = unitWord.exec(spelled);
  const [, before, number = '', after] =
    /^([A-Z]{3})?\s*(\d[\d.,' ]*?)\s*([A-Z]{3})?$/i.exec(
      unit ? `${spelled.slice(0, unit.index)} IRR` : spelled,
    ) ?? [];
  if (number === '' || (before !== undefined && after !== undefined)) return none;
  const currency = (before ?? after)?.toUpperCase();
  if (currency === undefined)
    return /^\d+[.,]\d{2,3}$/.test(number)
      ? { ...none, moneyProblem: 'An amount needs its currency, as in “84.00 EUR”.' }
      : none;
  if (!currencyExponents.has(currency))
    return { ...none, moneyProblem: `There is no currency ${currency}.` };
  // "1,504.62", "1.504,62", "84,00"
  const exponent = currencyExponents.get(currency) ?? 0;
  const [, whole = number, decimals] =
    new RegExp(`^(.*)[.,](\\d{${exponent || 99}})$`).exec(number) ?? [];
  // Thousands stand in groups of three.
  if (!/^\d+$|^\d{1,3}(?:[.,' ]\d{3})+$/.test(whole))
    return {
      ...none,
      moneyProblem: `${currency} has ${exponent === 0 ? 'no' : exponent} decimals.`,
    };
  const plain = whole.replaceAll(/\D/g, '') + (decimals === undefined ? '' : `.${decimals}`);
  const money = parseMoneyOf(currency, plain);
  return 'problem' in money
    ? { ...none, moneyProblem: money.problem }
    : {
        money: { amount: money.amount * (unit?.groups?.['toman'] ? rialsOfToman : 1), currency },
        moneyProblem: null,
      };
};

/** `4242`, `•••• 4242`, `603799******4242`. */
const readCard = (text: string): string | null => {
  if (hasCardNumber(text)) return text.replaceAll(/\D/g, '').slice(-4);
  return /^(?:[\d ]{4,8})?[*•xX.… -]*(\d{4})$/.exec(text)?.[1] ?? null;
};

const readIds = (text: string): Pick<SearchMeaning, 'idPrefix' | 'idSuffix' | 'eventPrefix'> => {
  const joined = text.replaceAll(/[\s\u200b-\u200f]/g, '');
  const isEnd = /^(?:…|\.{2,3}|\*)/.test(joined);
  const bare = joined.replaceAll(/^(?:…|\.{2,3}|\*)|(?:…|\.{2,3}|\*)$/g, '');
  const [, kind, part = ''] = /^(?:(PAY|REFUND)_)?([0-9A-HJKMNP-TV-Z]*)$/i.exec(bare) ?? [];
  const isPart = part.length >= idPartMin && part.length <= 26;
  const named = kind?.toUpperCase() as 'PAY' | 'REFUND' | undefined;
  return {
    idPrefix: isPart && !isEnd ? { kind: named ?? null, part: part.toUpperCase() } : null,
    idSuffix: isPart && named === undefined ? part.toUpperCase() : null,
    eventPrefix:
      /^[0-9a-f]{8}(?:-[0-9a-f]{0,4}){0,3}(?:-[0-9a-f]{0,12})?$/i.test(bare) && bare.length <= 36
        ? bare.toLowerCase()
        : null,
  };
};

const readTexts = (text: string): string[] => {
  const bare = text.replace(wordBefore, '') || text;
  return [...new Set([text, bare, asciiDigits(bare)])];
};

/** The texts in the cases in which shops write their orders: an index finds only what begins exactly so. */
export const inOtherCases = (texts: readonly string[]): string[] => {
  const cases = texts.flatMap((text) => [
    text,
    text.toUpperCase(),
    text.toLowerCase(),
    text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase(),
  ]);
  return [...new Set(cases)];
};

export const readSearch = (typed: string): SearchMeaning => {
  const text = typed.replaceAll(directions, '').replaceAll(around, '');
  const isCardNumber = hasCardNumber(text);
  const card = readCard(asciiDigits(text));
  if (isCardNumber)
    return {
      text,
      card,
      isCardNumber,
      texts: [],
      money: null,
      moneyProblem: null,
      idPrefix: null,
      idSuffix: null,
      eventPrefix: null,
    };
  const texts = readTexts(text);
  return { text, texts, card, isCardNumber, ...readMoney(text), ...readIds(text) };
};
