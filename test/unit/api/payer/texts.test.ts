import { describe, expect, it } from 'vitest';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { OverloadedError } from '../../../../api/http/error-response.ts';
import { visitOf } from '../../../../api/payer/language.ts';
import { showLinkHandler } from '../../../../api/links/page.ts';
import { showOutcomeHandler } from '../../../../api/payer/outcome.ts';
import {
  errorPage,
  linkPage,
  redirectToGateway,
  retryingPage,
  unknownPaymentPage,
  waitPage,
} from '../../../../api/payer/pages.ts';
import { chooseInSandboxHandler, showSandboxHandler } from '../../../../api/payer/sandbox.ts';
import { type TextName, texts } from '../../../../api/payer/texts.ts';
import { type ErrorCode, errors, PaymentError } from '../../../../contract/errors.ts';
import { type FailureCode, failureReasons } from '../../../../contract/failure-codes.ts';
import { type Language, languages } from '../../../../contract/languages.ts';
import { newLinkId, newPaymentId, newRequestId } from '../../../../contract/ids.ts';
import { statuses } from '../../../../contract/status.ts';
import { sandboxAccount } from '../../../../postgres/gateways/gateways.ts';
import type { PayableLink } from '../../../../postgres/links/links.ts';
import { sealPayer } from '../../../../postgres/payments/payers.ts';
import type { SandboxPagePayment } from '../../../../postgres/sandbox/payments.ts';
import {
  createSecretBox,
  noKeys,
  type SecretBox,
} from '../../../../postgres/secrets/secret-box.ts';
import type { PayerOutcome } from '../../../../postgres/payments/payments.ts';
import { proxyPage, proxyPageFile } from '../../../../tools/proxy-page.ts';
import { aBrowser } from '../../../support/data/a-browser.ts';
import { aPayment } from '../../../support/data/payments.ts';
import { projectFiles, readProjectFile } from '../../../support/checks/project-files.ts';

const failureCodes = Object.keys(failureReasons) as FailureCode[];
const paymentId = newPaymentId();
const requestId = newRequestId();
const payersBox = createSecretBox({ currentId: 'k', keys: new Map([['k', Buffer.alloc(32)]]) });
const payer = { mobile: '09121234567', email: 'ada@shop.example', name: 'Ada Lovelace' };

const payment = {
  amount: 1_500_000,
  currency: 'IRR',
  description: 'Two tickets',
  test: true,
  paidTo: 'Ada & <Sons>',
  payerLocale: null,
  locale: null,
};

const sandboxPayment = (changes: Partial<SandboxPagePayment> = {}): SandboxPagePayment => ({
  ...payment,
  reference: 'SBX1',
  paymentId,
  returnUrl: 'https://shop.example/return',
  state: 'open',
  refusal: null,
  trackingCode: null,
  cardPanMasked: null,
  isSilent: false,
  isLost: false,
  paysLate: false,
  payer: sealPayer(payersBox, paymentId, payer),
  ...changes,
});

const sandboxRequest = (language: Language, form = '') =>
  // The parts that the handlers read.
  ({
    ...aBrowser({ acceptLanguage: language }),
    params: { payment_id: paymentId },
    readForm: async () => new URLSearchParams(form),
  }) as unknown as AnyRequest;

const showSandbox = (
  language: Language,
  found: SandboxPagePayment | undefined,
  box: Pick<SecretBox, 'open'> = payersBox,
) =>
  showSandboxHandler({
    sandboxPayments: {
      getByPayment: async () => found,
      choose: () => Promise.reject(new Error('Nobody chooses')),
    },
    payersBox: box,
  })(sandboxRequest(language));

const sandboxPages = (language: Language) => {
  const show = (found: SandboxPagePayment | undefined) => showSandbox(language, found);
  const choose = (form: string, isKnown = true) =>
    chooseInSandboxHandler({
      sandboxPayments: {
        getByPayment: async () => undefined,
        choose: async () => (isKnown ? { isFirstChoice: true, returnUrl: '' } : undefined),
      },
      payersBox,
    })(sandboxRequest(language, form));
  return [
    show(sandboxPayment({ payerLocale: language })),
    show(sandboxPayment({ amount: 125_050, currency: 'EUR' })),
    show(sandboxPayment({ state: 'paid' })),
    show(undefined),
    choose(''),
    choose('action=pay_and_close'),
    choose('action=pay', false),
  ];
};

const now = new Date('2026-11-29T12:00:00Z');

/** The page of a payment that ended a minute ago. */
const showOutcome = async (language: Language, changes: Partial<PayerOutcome>) => {
  const outcome: PayerOutcome = {
    ...aPayment({ updatedAt: new Date(now.getTime() - 60_000) }),
    ...payment,
    ...{ opened: true, payerSent: true, verifyWindow: 0, driver: 'zarinpal', isUnstarted: false },
    ...{ reference: null, traceId: null, moneyFoundAt: null, isInDoubt: false, isOrderPaid: false },
    ...changes,
  };
  const handler = showOutcomeHandler({
    payments: { getOutcomeForPayer: async () => outcome },
    publicBaseUrl: 'https://pay.example',
    now: () => now,
  });
  return handler(sandboxRequest(language));
};

const outcomePages = (language: Language) => [
  ...statuses.map((status) => showOutcome(language, { status })),
  ...failureCodes.map((failureCode) => showOutcome(language, { status: 'failed', failureCode })),
  showOutcome(language, { status: 'paid', amountRefunded: 500, amountRefundPending: 1_000 }),
  showOutcome(language, { status: 'expired', moneyFoundAt: now }),
  showOutcome(language, { status: 'expired', isInDoubt: true }),
  showOutcome(language, { status: 'expired', updatedAt: new Date(0), driver: 'stripe' }),
];

const linkId = newLinkId();

/** The page of a link; undefined: there is none. */
const showLinkPage = (language: Language, changes: Partial<PayableLink> | undefined) => {
  const link = changes && {
    ...{ ...payment, id: linkId, application: 'shop', orderId: 'order-1', status: 'open' as const },
    ...{ paymentId: null, expiresAt: now, createdAt: now, paidAt: null, disabledAt: null },
    ...{ isApplicationDisabled: false, isOver: false, tries: 0, lastTry: null, isOrderPaid: false },
    ...{ defaultGateway: sandboxGateway, fallbackGateways: [] },
    ...changes,
  };
  const handler = showLinkHandler({
    links: { getForPayer: async () => link },
    payments: { getOutcomeForPayer: async () => undefined },
    publicBaseUrl: 'https://pay.example',
    now: () => now,
  });
  return handler({ ...sandboxRequest(language), params: { link_id: linkId } });
};

const sandboxGateway = { ...sandboxAccount, enabled: true };

const linkPages = (language: Language) =>
  [
    undefined,
    {},
    { locale: language },
    { lastTry: { id: paymentId, status: 'failed' as const }, tries: 1 },
    { lastTry: { id: paymentId, status: 'pending' as const }, tries: 1 },
    { lastTry: { id: paymentId, status: 'processing' as const }, tries: 1 },
    { status: 'paid' as const },
    { isOrderPaid: true },
    { status: 'disabled' as const },
    { isApplicationDisabled: true },
    { isOver: true },
    { tries: 100 },
  ].map((changes) => showLinkPage(language, changes));

/** Every page of a payer in a language. */
const pagesIn = async (language: Language): Promise<string[]> => {
  const request = aBrowser({ acceptLanguage: language });
  const visit = visitOf(request);
  const known = visitOf(request, payment);
  const failed = [
    ...(Object.keys(errors) as ErrorCode[]).map(
      (code) => new PaymentError(code, 'An English text for developers.'),
    ),
    new OverloadedError(),
  ];
  const pages = await Promise.all([
    unknownPaymentPage(visit),
    linkPage(visit),
    waitPage(visit, 'asking', 1),
    retryingPage(visit, 503, 'preparing', 3),
    retryingPage(known, 503, 'preparing', 3),
    redirectToGateway(known, { method: 'POST', url: 'https://bank.example/', fields: {} }),
    ...sandboxPages(language),
    ...outcomePages(language),
    ...linkPages(language),
    ...failed.flatMap((error) =>
      [undefined, 5].map((retryAfter) =>
        errorPage({ status: errors[error.code].status, error, requestId, retryAfter, request }),
      ),
    ),
  ]);
  return pages.map(({ body }) => String(body));
};

const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Everything that a payer sees or hears of a page: its texts, and the labels for screen readers. */
const sentencesOf = (page: string): string[] => {
  const visible = page.replaceAll(/<(style|script)>[^]*?<\/\1>|<\/?bdi[^>]*>/g, '');
  const labels = [...visible.matchAll(/ (?:aria-label|alt|title|placeholder)="([^"]*)"/g)];
  return [...labels.map(([, label = '']) => label), ...visible.split(/<[^>]*>/)]
    .map(inOneLine)
    .filter((text) => /\p{Letter}/u.test(text));
};

const patternOf = (text: string): string =>
  text
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.?()]/g, String.raw`\$&`))
    .join('.*');

/** Texts that are no sentence. */
const data = [
  paymentId,
  requestId,
  // Languages have digits and separators of their own, some of them blanks.
  String.raw`\p{Decimal_Number}[\p{Decimal_Number}.,٫٬ ]* EUR`,
  payment.description,
  ...Object.values(payer),
  ...languages,
];

describe.each(languages)('the pages in %s', (language) => {
  const own = Object.values(texts).map((text) => patternOf(text[language]));
  const known = [...own, ...languages.map((other) => texts.language_name[other])];
  const codes = failureCodes.join('|');
  const isKnown = new RegExp(
    `^(?:(?:${codes}): )?(?:${[...known, ...data].join('|')}|(?:${own.join('|')}) (?:${own.join('|')}))$`,
    'u',
  );

  it('have no sentence that is not in the texts', async () => {
    const sentences = (await pagesIn(language)).flatMap(sentencesOf);
    expect([...new Set(sentences)].filter((sentence) => !isKnown.test(sentence))).toEqual([]);
  });

  it('say their language and direction', async () => {
    for (const page of await pagesIn(language))
      expect(page).toContain(`<html lang="${language}" dir="${texts.direction[language]}">`);
  });
});

it('the pages use every text', async () => {
  const all = [...(await pagesIn('en')), await proxyPage()].flatMap(sentencesOf);
  const unused = (Object.keys(texts) as TextName[]).filter((name) => {
    const pattern = new RegExp(`(?:^|[ :])${patternOf(texts[name].en)}`);
    return !all.some((sentence) => pattern.test(sentence));
  });
  expect(unused).toEqual(['language_name', 'direction']);
});

/** The fixed parts of a source's html templates, also of those inside the values of others. */
const markupIn = (source: string): string => {
  let markup = '';
  const within: ('code' | 'html' | 'text')[] = ['code'];
  for (const [token] of source.matchAll(/html`|`|\$?\{|\}|\/\/.*|[^]/g)) {
    const place = within.at(-1);
    if (place === 'code') {
      if (token.endsWith('`')) within.push(token === '`' ? 'text' : 'html');
      else if (token === '}') within.pop();
      else if (token.endsWith('{')) within.push('code');
    } else if (token === '`') within.pop();
    else if (token === '${') within.push('code');
    else if (place === 'html') markup += token;
  }
  return markup;
};

it("the pages' source has no words outside the texts", () => {
  const sources = projectFiles().filter((path) => /^api\/payer\/.*\.ts$/.test(path));
  const markup = sources.map((path) => markupIn(readProjectFile(path)));
  expect(markup.join('')).toContain('<h1>');
  expect(markup.flatMap(sentencesOf)).toEqual([]);
});

describe('the texts', () => {
  const placesOf = (text: string) => text.match(/\{\w+\}/g)?.toSorted() ?? [];

  it.each(Object.entries(texts))('%s has the same places in each language', (_, text) => {
    for (const language of languages) {
      expect(text[language]).toMatch(/^\S.*\S$/);
      expect(placesOf(text[language])).toEqual(placesOf(text.en));
    }
  });

  it('say the reason of a failure in English as the API does', () => {
    for (const code of failureCodes) expect(texts[`failure_${code}`].en).toBe(failureReasons[code]);
  });

  it("are those of the proxy's page; `node tools/proxy-page.ts` writes it", async () => {
    expect(readProjectFile(proxyPageFile)).toBe(await proxyPage());
  });
});

it("a page says whom the payer pays, apart from the page's own direction", async () => {
  const { body } = await retryingPage(visitOf(aBrowser(), payment), 503, 'preparing', 3);
  expect(inOneLine(String(body))).toContain('Payment to <bdi>Ada &amp; &lt;Sons&gt;</bdi>');
  expect(String(body)).toContain('<bdi>Two tickets</bdi>');
});

it('the style has no left or right', async () => {
  const [page = ''] = await pagesIn('fa');
  expect(/<style>([^]*)<\/style>/.exec(page)?.[1]).not.toMatch(/left|right/);
});

describe('the page of an outcome', () => {
  const told = async (changes: Partial<PayerOutcome>, language: Language = 'en') => {
    const { body } = await showOutcome(language, changes);
    return [...String(body).matchAll(/<p>([^<]+)</g)].map(([, text]) => text);
  };

  it('says the failure, the next step and the time of the gateway', async () => {
    const failed = { status: 'failed', failureCode: 'expired_card' } as const;
    const [reason, step] = ['The card has expired.', 'Please pay again with another card.'];
    const money = (time: string) =>
      `If money has left your account, it comes back by itself. This usually takes ${time} at most.`;
    expect(await told(failed)).toEqual([reason, step, money('30 minutes')]);
    expect(await told({ ...failed, driver: 'payping' })).toContain(money('10 minutes'));
    expect(await told({ ...failed, driver: 'stripe' })).toContain(money('14 days'));
    expect((await told(failed, 'fa')).at(-1)).toContain('حداکثر ۳۰ دقیقه');
  });

  it('promises no money to whoever was never sent, and none that a person has to find', async () => {
    expect(await told({ status: 'expired', payerSent: false })).toHaveLength(2);
    expect(await told({ status: 'expired', isInDoubt: true })).toContain(texts.money_by_hand.en);
    expect(await told({ status: 'paid' })).toEqual(['The payment is paid.']);
  });

  it('asks nobody to pay again for an order that is paid', async () => {
    const isOrderPaid = true;
    const said = [texts.failure_order_already_paid.en, texts.next_nothing.en];
    const failed = { status: 'failed', failureCode: 'expired_card', isOrderPaid } as const;
    expect(await told(failed)).toEqual(['The card has expired.', ...said, expect.any(String)]);
    const cancelled = { status: 'cancelled', cancelledBy: 'payer', payerSent: false } as const;
    expect(await told({ ...cancelled, isOrderPaid })).toEqual([
      'The payment was cancelled.',
      ...said,
    ]);
    expect(await told({ status: 'paid', isOrderPaid })).toEqual(['The payment is paid.']);
  });

  it('says what of a paid payment goes back, and what has gone', async () => {
    const refunds = { amountRefundPending: 1_000, amountRefunded: 50_000 };
    expect(await told({ status: 'paid', ...refunds })).toEqual([
      'The payment is paid.',
      'A refund of 1,000 rials is being processed.',
      '50,000 rials was sent back to you. Your bank may take some days to show it.',
    ]);
  });

  it('says so when the money should be back', async () => {
    const long = new Date(now.getTime() - 31 * 60_000);
    expect(await told({ status: 'expired', updatedAt: long })).toContain(texts.money_is_back.en);
    const found = await told({ status: 'expired', updatedAt: long, moneyFoundAt: now });
    expect(found.at(-1)).toMatch(/^Your money is on its way back/);
  });

  it('asks only a payer who has cancelled to try again', async () => {
    const after = (cancelledBy: 'payer' | 'application') =>
      told({ status: 'cancelled', cancelledBy, payerSent: false });
    expect(await after('payer')).toContain(texts.next_retry.en);
    expect(await after('application')).toEqual(['The payment was cancelled.']);
  });
});

describe("the sandbox's page of the payer", () => {
  const shown = async (changes: Partial<SandboxPagePayment>, box?: Pick<SecretBox, 'open'>) => {
    const found = sandboxPayment({ payerLocale: 'fa-IR', ...changes });
    const { body } = await showSandbox('fa', found, box);
    return [...String(body).matchAll(/<dd><bdi dir="(\w+)">([^<]*)</g)].map(
      ([, direction, text]) => `${direction} ${text}`,
    );
  };
  const locale = 'ltr fa-IR';

  it('shows what a gateway would get, each in its direction', async () => {
    expect(await shown({})).toEqual([
      `ltr ${payer.mobile}`,
      `ltr ${payer.email}`,
      `auto ${payer.name}`,
      locale,
    ]);
  });

  it('shows nothing of a payment that is no test, has ended or was made without a payer', async () => {
    expect(await shown({ test: false })).toEqual([]);
    expect(await shown({ state: 'paid' })).toEqual([]);
    expect(await shown({ payer: null, payerLocale: null })).toEqual([]);
  });

  it('shows the language alone where the key is gone, as the gateway gets it', async () => {
    expect(await shown({}, createSecretBox(noKeys))).toEqual([locale]);
  });
});
