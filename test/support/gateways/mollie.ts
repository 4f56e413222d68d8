import type { FailureCode } from '../../../contract/failure-codes.ts';
import type { KnownRefund } from '../../../gateways/gateway.ts';
import { startMollie } from '../../fakes/mollie.ts';
import { bothReturn, paidAs, paidThen, unchanged } from './cases.ts';
import type { Case, ProviderFixture, RefundCase, RefusalCase } from './fixture.ts';

type Mollie = Awaited<ReturnType<typeof startMollie>>;

const money = { amount: 1_250, currency: 'EUR' };
const paid = { state: 'paid', ...money, cardPanMasked: null } as const;

const failures: [string, FailureCode][] = [
  ['authentication_abandoned', 'authentication_failed'],
  ['authentication_failed', 'authentication_failed'],
  ['authentication_required', 'authentication_failed'],
  ['authentication_unavailable_acs', 'issuer_unavailable'],
  ['card_declined', 'card_declined'],
  ['card_expired', 'expired_card'],
  ['inactive_card', 'card_not_supported'],
  ['insufficient_funds', 'insufficient_funds'],
  ['invalid_cvv', 'authentication_failed'],
  ['invalid_card_holder_name', 'invalid_card'],
  ['invalid_card_number', 'invalid_card'],
  ['invalid_card_type', 'card_not_supported'],
  ['possible_fraud', 'suspected_fraud'],
  ['refused_by_issuer', 'card_declined'],
  ['unknown_reason', 'unknown'],
  ['something_new', 'unknown'],
];

const inState = (
  name: string,
  state: string,
  expected: Case<Mollie>['verify'],
  details: object | null = null,
): Case<Mollie> =>
  bothReturn(
    name,
    (bank, reference) => {
      bank.failWith(details);
      bank.move(reference, state);
    },
    expected,
  );

/** A payment of which so much went back at the dashboard. */
const refunded = (
  name: string,
  expected: Case<Mollie>['verify'],
  { amount = money.amount, status }: { amount?: number; status?: string } = {},
): Case<Mollie> =>
  bothReturn(
    name,
    paidThen<Mollie>((bank, reference) => {
      bank.refundAtDashboard(reference, amount);
      if (status !== undefined) bank.moveRefunds(reference, status);
    }),
    expected,
  );

/** Mollie knows the payment, and its answer cannot be used. */
const confused = (name: string, arrange: (bank: Mollie, reference: string) => void): Case<Mollie> =>
  bothReturn(name, paidThen<Mollie>(arrange), 'no_answer');

const refuses = (status: number): Case<Mollie> =>
  confused(`throws when the inquiry is refused with ${status}`, (bank) =>
    bank.refuse('retrieve', { status }, { status }),
  );

const refundIs = (
  status: string,
  expected: Partial<KnownRefund>,
): RefundCase<Mollie, Partial<KnownRefund>> => [
  status,
  (bank, reference) => bank.moveRefunds(reference, status),
  expected,
];

const titles: Record<number, string> = { 401: 'Unauthorized Request', 422: 'Unprocessable Entity' };

/** The next call of an operation is refused. By default that is certain. */
const refusal = (
  operation: string,
  [status, field]: [number, string?],
  expected: RefusalCase<Mollie>[2] = {
    code: field ?? titles[status] ?? 'Error',
    message: 'Mollie says no',
  },
): RefusalCase<Mollie> => [
  `${status} ${field}`,
  (bank) => bank.refuse(operation, { status, ...(field !== undefined && { field }) }),
  expected,
];
const amountRefused = (field: string) => ({
  ...{ code: field, message: 'Mollie says no', failureCode: 'amount_not_accepted' },
});

export const mollie: ProviderFixture<Mollie> = {
  driver: 'mollie',
  credentials: {
    sandbox: { apiKey: 'test_0123456789abcdef', accessToken: 'access_0123456789abcdef' },
    live: { apiKey: 'live_0123456789abcdef' },
  },
  money,
  unknown: 'tr_unknown',
  verifyWindowSeconds: null,
  start: (mode) => startMollie({ mode: mode === 'live' ? 'live' : 'test' }),
  cases: [
    inState('waiting: open', 'open', { state: 'waiting' }),
    inState('processing: pending', 'pending', { state: 'processing' }),
    inState('processing: authorized, which reserves the money', 'authorized', {
      state: 'processing',
    }),
    bothReturn('paid', (bank, reference) => bank.pay(reference), paid),
    inState('cancelled', 'canceled', { state: 'cancelled' }),
    inState('expired', 'expired', { state: 'expired' }),
    inState('failed without a reason', 'failed', {
      ...{ state: 'failed', failureCode: 'payment_not_completed', code: null, message: null },
    }),
    ...failures.map(([reason, failureCode]) =>
      inState(
        `failed: ${reason} is ${failureCode}`,
        'failed',
        { state: 'failed', failureCode, code: reason, message: 'No.' },
        { failureReason: reason, failureMessage: 'No.' },
      ),
    ),
    refunded('refunded', { state: 'failed', failureCode: 'payment_reversed' }),
    ...['queued', 'pending', 'processing'].map((status) =>
      refunded(`a whole refund is ${status}`, { state: 'processing' }, { status }),
    ),
    refunded('a whole refund has failed', paid, { status: 'failed' }),
    refunded('partly refunded', paid, { amount: money.amount - 1 }),
    bothReturn('returns another amount', paidAs({ amount: 100 }), {
      ...{ state: 'paid', amount: 100, currency: 'EUR' },
    }),
    bothReturn('returns another currency', paidAs({ currency: 'JPY' }), {
      ...{ state: 'paid', amount: 1_250, currency: 'JPY' },
    }),
    bothReturn('accepts a response that names no payment', paidAs({ paymentId: '' }), paid),
    bothReturn(
      'throws when the response names another payment of ours',
      paidAs({ paymentId: 'PAY_another' }),
      'no_answer',
    ),
    inState('throws for an undocumented status', 'shipped', 'no_answer'),
    confused('throws when the list of refunds is refused', (bank) =>
      bank.refuse('list refunds', { status: 404 }, { status: 404 }),
    ),
    refuses(400),
    refuses(401),
    refuses(403),
    refuses(404),
    refuses(409),
    refuses(422),
  ],
  openings: [
    refusal('create', [422, 'amount'], amountRefused('amount')),
    refusal('create', [422, 'amount.value'], amountRefused('amount.value')),
    refusal('create', [422, 'amount.currency']),
    refusal('create', [422, 'redirectUrl']),
    refusal('create', [422]),
    refusal('create', [401]),
    refusal('create', [403]),
    // No certain refusal: the key was used before, or a request with it is running.
    refusal('create', [400], 'no_answer'),
    refusal('create', [409], 'no_answer'),
    refusal('create', [404, 'amount'], 'no_answer'),
    refusal('create', [410], 'no_answer'),
  ],
  reversals: [
    refusal('refund', [409], 'no_answer'),
    refusal('refund', [422, 'description'], 'no_answer'),
    refusal('refund', [400], 'no_answer'),
    refusal('refund', [422, 'amount'], {
      ...{ code: 'amount', message: 'Mollie says no', failureCode: 'not_refundable' },
    }),
  ],
  wire: unchanged(
    { amount: 1_250, currency: 'EUR' },
    { amount: 1, currency: 'GBP' },
    { amount: 500, currency: 'JPY' },
    { amount: 7_000, currency: 'ISK' },
    { amount: 10_050, currency: 'HUF' },
    { amount: 99_999_999_999, currency: 'USD' },
  ),
  rejected: [
    [{ amount: 0, currency: 'EUR' }, 'gateway_bounds'],
    [{ amount: 100_000_000_000, currency: 'EUR' }, 'gateway_bounds'],
    [{ amount: 1_250, currency: 'BGN' }, 'gateway_currency'],
    [{ amount: 1_250, currency: 'KWD' }, 'gateway_currency'],
    [{ amount: 150_000, currency: 'IRR' }, 'gateway_currency'],
  ],
  guards: [
    ['a live key in a sandbox account', 'sandbox', { apiKey: 'live_0123456789abcdef' }],
    ['a test key in a live account', 'live', { apiKey: 'test_0123456789abcdef' }],
    ['an access token as the key', 'live', { apiKey: 'access_0123456789abcdef' }],
    [
      'a key as the access token',
      'sandbox',
      { apiKey: 'test_0123456789abcdef', accessToken: 'live_0123456789abcdef' },
    ],
  ],
  refunds: {
    kind: 'sandbox',
    book: (bank, reference) => bank.of(reference),
    atDashboard: (bank, reference, amount) => bank.refundAtDashboard(reference, amount),
    states: [
      refundIs('refunded', { state: 'succeeded', bankReference: '7498704301' }),
      refundIs('queued', { state: 'waiting_for_balance', bankReference: null }),
      refundIs('pending', { state: 'pending' }),
      refundIs('processing', { state: 'pending' }),
      refundIs('failed', { state: 'failed', failureCode: 'returned_by_bank', code: 'failed' }),
      refundIs('canceled', { state: 'failed', failureCode: 'cancelled', code: 'canceled' }),
    ],
    refusals: (
      [
        [422, 'amount', 'not_refundable'],
        [422, 'amount.value', 'not_refundable'],
        [401, undefined, 'merchant_configuration'],
        [403, undefined, 'merchant_configuration'],
        // In no list, or of a status that says nothing about the refund.
        [422, undefined, 'no_answer'],
        [422, 'metadata', 'no_answer'],
        [409, undefined, 'no_answer'],
        [409, 'amount', 'no_answer'],
        [404, undefined, 'no_answer'],
        [400, undefined, 'no_answer'],
      ] as const
    ).map(([status, field, failureCode]) => [
      `${status}, ${field}`,
      (bank) => bank.refuse('refund', { status, ...(field !== undefined && { field }) }),
      failureCode,
    ]),
    paths: { refund: /\/refunds$/, list: /\/refunds\?/ },
  },
  paths: { open: /payments$/, inquire: /payments\/tr_\w+$/, verify: /payments\/tr_\w+$/ },
};
