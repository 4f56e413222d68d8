import { describe, expect, it } from 'vitest';
import { aGatewayPayment, aGatewayRefund, answerOf } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { vandar, vandarRefunds } from '../../support/gateways/vandar.ts';

const test = aProvider(vandar);
const live = aProvider(vandar, 'live');
const apiKey = 'live-key-0123456789';
const dayMs = 86_400_000;

describe('vandar', () => {
  it('opens in rials with our payment id, and redirects to its page', async () => {
    const payment = aGatewayPayment({ amount: 3_000_000_000, currency: 'IRR' });
    let opening: unknown;
    const [call] = await live.callsOf(async () => {
      opening = await live.adapter().open(payment);
    });
    expect(call).toMatchObject({ method: 'POST', path: '/api/v3/send' });
    expect(call?.json).toEqual({
      api_key: apiKey,
      amount: 3_000_000_000,
      callback_url: payment.returnUrl,
      factorNumber: payment.id,
      description: 'Two tickets',
    });
    const [reference] = [...live.provider().book.keys()].slice(-1);
    const url = `${live.provider().url}/v3/${reference}`;
    expect(opening).toEqual({ result: 'opened', reference, redirect: { method: 'GET', url } });
  });

  it('uses the paths of the test key in a sandbox account alone', async () => {
    let opening: unknown;
    const [call] = await test.callsOf(async () => {
      opening = await test.adapter().open(aGatewayPayment(vandar.money));
    });
    expect(call).toMatchObject({ path: '/api/v3/test/send', json: { api_key: 'test' } });
    const [reference] = [...test.provider().book.keys()].slice(-1);
    const url = `${test.provider().url}/v3/test/${reference}`;
    expect(opening).toMatchObject({ redirect: { url } });
  });

  it.each([15_000, 1_500_000])(
    'takes no money of %i for 150,000 rials: the unit of an account is in doubt',
    async (amount) => {
      const payment = await live.opened();
      live.provider().pay(payment.reference);
      live.provider().tellAmount(payment.reference, String(amount));
      const calls = await live.callsOf(() => live.adapter().verify(payment));
      expect(calls.map(({ path }) => path)).toEqual(['/api/v3/transaction']);
      expect(live.provider().book.get(payment.reference)).toMatchObject({ verified: 0 });
    },
  );

  it('verifies nothing that nobody has paid', async () => {
    const payment = await live.opened();
    const calls = await live.callsOf(() => live.adapter().verify(payment));
    expect(calls.map(({ path }) => path)).toEqual(['/api/v3/transaction']);
  });
});

describe('refunds of vandar', () => {
  it('sends its number of the payment, rials as a text, and our id twice', async () => {
    const payment = await live.paid();
    const refund = aGatewayRefund(60_000);
    const [call] = await live.callsOf(() => live.adapter().refund!(payment, refund));
    expect(call).toMatchObject({
      method: 'POST',
      path: `/v3/business/my-shop/transaction/${payment.trackingCode}/refund`,
      headers: { authorization: 'Bearer access-token-0' },
    });
    const { id } = refund;
    expect(call?.json).toEqual({ payment_number: id, amount: '60000', description: id });
  });

  it('shows several refunds of Vandar as the one that we asked for', async () => {
    const payment = await live.paid();
    live.provider().splitRefunds(3);
    const refund = aGatewayRefund(60_000);
    const answer = await live.adapter().refund!(payment, refund);
    live.provider().splitRefunds(1);
    const { reference } = answer.result === 'accepted' ? answer.refund : { reference: '' };
    expect(reference.split(',')).toHaveLength(3);
    const list = () => live.adapter().refunds!(payment, [reference]);
    const whole = { reference, refundId: refund.id, amount: 60_000 };
    expect(await list()).toMatchObject([{ ...whole, state: 'succeeded' }]);
    const [first] = live.provider().of(payment.reference);
    Object.assign(first!, { state: '-3' });
    expect(await list()).toMatchObject([{ ...whole, state: 'pending', failureCode: null }]);
    live.provider().moveRefunds(payment.reference, '-3');
    const failed = { state: 'failed', failureCode: 'gateway_refused', code: '-3' };
    expect(await list()).toMatchObject([{ ...whole, ...failed }]);
  });

  it('neither ends nor tells a refund with a token that has ended', async () => {
    const payment = await live.paid();
    const refunds = { ...vandarRefunds, accessToken: 'access-token-x' };
    const ended = live.adapterWith({ apiKey, refunds });
    expect(await answerOf(ended.refund?.(payment, aGatewayRefund(60_000)))).toBe('no_answer');
    expect(await answerOf(ended.refunds?.(payment, []))).toBe('no_answer');
    expect(live.provider().of(payment.reference)).toEqual([]);
  });

  const accepted = (part: object) => ({
    body: {
      status: 1,
      data: {
        results: [{ gateway_transaction_id: 1, amount: '60000', payment_number: null, ...part }],
      },
    },
  });
  it.each([
    ['ten times the amount', accepted({ amount: '600000' })],
    ['a tenth of the amount', accepted({ amount: '6000' })],
    ['another refund', accepted({ payment_number: 'REFUND_another' })],
    ['no part', { body: { status: 1, data: { results: [] } } }],
    ['a status of success with an error', { body: { status: 0, error: 'x' } }],
  ])('knows nothing after an answer with %s', async (_, response) => {
    const payment = await live.paid();
    live.provider().failAll(/refund$/, response);
    const answer = await answerOf(live.adapter().refund?.(payment, aGatewayRefund(60_000)));
    live.provider().failAll(/refund$/, undefined);
    expect(answer).toBe('no_answer');
  });

  const row = { id: 1, amount: 15_000, status: 1, refund_detail_ids: [] };
  it.each([
    ['of another transaction', { ...row, id: 2 }],
    ['of another amount', { ...row, amount: 150_000 }],
    ['of a part of a rial more', { ...row, amount: 15_000.04 }],
    ['of another payment', { ...row, factorNumber: 'PAY_another' }],
    ['without the ids of its refunds', { ...row, refund_detail_ids: undefined }],
    ['that has too many refunds', { ...row, refund_detail_ids: Array(21).fill(1) }],
  ])('lists nothing of a row %s', async (_, told) => {
    const payment = { ...(await live.opened()), trackingCode: '1' };
    live.provider().failAll(/\?id=1$/, { body: { status: 1, data: [told] } });
    const answer = await answerOf(live.adapter().refunds?.(payment, []));
    live.provider().failAll(/\?id=1$/, undefined);
    expect(answer).toBe('no_answer');
  });

  it('reads a list of one row without brackets, as in the documentation', async () => {
    const payment = { ...(await live.opened()), trackingCode: '1' };
    live.provider().failAll(/\?id=1$/, { body: { status: 1, data: row } });
    expect(await live.adapter().refunds?.(payment, [])).toEqual([]);
    live.provider().failAll(/\?id=1$/, undefined);
  });
});

describe('a renewal at vandar', () => {
  const at = new Date('2026-11-29T12:00:00Z');
  const endsIn = (days: number) => new Date(at.getTime() + days * dayMs);
  const renewing = (refunds: object) =>
    live.adapterWith({ apiKey, refunds: { ...vandarRefunds, ...refunds } }, { now: () => at })
      .renew!;

  it('comes at once where the end is not known, and three days before it', async () => {
    const before = live.provider().renewals();
    live.provider().logIn({ access: vandarRefunds.accessToken, refresh: 'refresh-token-0' });
    expect(await renewing({ endsAt: endsIn(3.1).toISOString() })()).toEqual({
      result: 'current',
      endsAt: endsIn(3.1),
    });
    expect(live.provider().renewals()).toBe(before);
    const first = await renewing({})();
    expect(first).toEqual({
      result: 'renewed',
      endsAt: endsIn(5),
      refundCredentials: {
        business: 'my-shop',
        accessToken: live.provider().tokens().access,
        refreshToken: live.provider().tokens().refresh,
        endsAt: endsIn(5).toISOString(),
      },
    });
    const { refundCredentials } = first as { refundCredentials: object };
    const next = await renewing({ ...refundCredentials, endsAt: endsIn(3).toISOString() })();
    expect(next).toMatchObject({ result: 'renewed' });
    // The driver takes what it returned.
    expect(await renewing(refundCredentials)()).toMatchObject({ result: 'current' });
  });

  it('is refused for a token that has served', async () => {
    const endsAt = endsIn(1);
    const refused = await renewing({ refreshToken: 'refresh-token-x', endsAt: endsAt.toJSON() })();
    expect(refused).toEqual({ result: 'refused', reason: 'vandar, renew: HTTP 401', endsAt });
  });

  it.each([
    ['HTTP 500', { status: 500, body: {} }],
    ['HTTP 403', { status: 403, body: { status: 0 } }],
    ['a token that cannot stand in a header', { body: { ...tokens(), access_token: 'a\nb' } }],
    ['no time', { body: { ...tokens(), expires_in: undefined } }],
    ['a time of no days', { body: { ...tokens(), expires_in: 0 } }],
  ])('has no answer by %s, and throws nothing', async (_, response) => {
    live.provider().failAll(/refreshtoken/, response);
    const answer = await renewing({})();
    live.provider().failAll(/refreshtoken/, undefined);
    expect(answer).toMatchObject({ result: 'unanswered', endsAt: null });
    expect(JSON.stringify(answer)).not.toMatch(/-token-/);
  });
});

function tokens() {
  return {
    token_type: 'Bearer',
    expires_in: 432_000,
    access_token: 'access-token-9',
    refresh_token: 'refresh-token-9',
  };
}
