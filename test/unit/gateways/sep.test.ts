import { MockAgent } from 'undici';
import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { OpenedPayment } from '../../../gateways/gateway.ts';
import { findDriver, parseReturn } from '../../../gateways/registry.ts';
import { adapterOf, aGatewayPayment } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { sep } from '../../support/gateways/sep.ts';

const { provider, adapter, callsOf, ...account } = aProvider(sep);
/** The payer has not come back. */
const opened = async () => ({ ...(await account.opened()), returnProof: null });
const money = { state: 'paid', ...sep.money };
const minutes = (count: number) => count * 60_000;

const refNumOf = ({ reference }: OpenedPayment): string =>
  provider().book.get(reference)!.trackingCode;
const verifiedOf = ({ reference }: OpenedPayment) => provider().book.get(reference)?.verified;
const aPaid = async (): Promise<OpenedPayment> => {
  const payment = await opened();
  provider().pay(payment.reference);
  return payment;
};
/** So many minutes later, here and at SEP. */
const later = (count: number) => {
  provider().passTime(minutes(count));
  const now = new Date(Date.now() + minutes(count));
  return adapter({ now: () => now });
};
/** The receipt of the payment is gone, as after its hour. */
const withoutReceipt = async (payment: OpenedPayment, work: () => Promise<unknown>) => {
  provider().respondOnce('inquiry', { body: { HasError: true, ErrorCode: 404, Data: null } });
  const calls = await callsOf(work);
  expect(calls[0]?.json).toMatchObject({ Token: payment.reference });
  return calls.slice(1).map(({ path }) => path.split('/').at(-1));
};
const expectSilence = (call: Promise<unknown>) => expect(call).rejects.toThrow(GatewayUnavailable);

describe('an opening at SEP', () => {
  it('has the fields of the document alone, and redirects to its page', async () => {
    const payment = aGatewayPayment({ amount: 3_000_000_000, currency: 'IRR' });
    let opening: unknown;
    const [call] = await callsOf(async () => {
      opening = await adapter().open(payment);
    });
    expect(call).toMatchObject({ method: 'POST', path: '/onlinepg/onlinepg' });
    expect(call?.json).toEqual({
      action: 'token',
      TerminalId: '2015',
      Amount: 3_000_000_000,
      ResNum: payment.id,
      RedirectUrl: payment.returnUrl,
      TokenExpiryInMin: 60,
    });
    const [reference = ''] = [...provider().book.keys()].slice(-1);
    const url = `${provider().url}/OnlinePG/SendToken?token=${reference}`;
    expect(opening).toEqual({ result: 'opened', reference, redirect: { method: 'GET', url } });
  });

  it.each([
    [1, 20],
    [20, 20],
    [21.5, 22],
    [45, 45],
  ])('of a payment of %d minutes asks for a token of %d', async (count, asked) => {
    const now = new Date();
    const expiresAt = new Date(now.getTime() + minutes(count));
    const [call] = await callsOf(() =>
      adapter({ now: () => now }).open({ ...aGatewayPayment(sep.money), expiresAt }),
    );
    expect(call?.json['TokenExpiryInMin']).toBe(asked);
  });

  it('is refused in a sandbox account, because SEP has no sandbox', async () => {
    const sandbox = adapterOf('sep', { kind: 'sandbox', credentials: { terminalId: '2015' } });
    expect(await sandbox.open(aGatewayPayment(sep.money))).toMatchObject({
      ...{ result: 'refused', code: 'account_problem' },
    });
  });
});

it.each([
  [{}, undefined],
  [{ legacyTls: true }, { ciphers: 'DEFAULT@SECLEVEL=1' }],
])('an account at SEP with %o calls it with the TLS settings %o', async (credentials, tls) => {
  const agent = new MockAgent();
  agent
    .get('https://sep.shaparak.ir')
    .intercept({ path: () => true, method: 'POST' })
    .reply(503, '');
  agent.disableNetConnect();
  const asked: unknown[] = [];
  const kind = 'live';
  const live = adapterOf(
    'sep',
    { kind, credentials: { terminalId: '2015', ...credentials } },
    {
      sendWith(settings) {
        asked.push(settings);
        return agent;
      },
    },
  );
  await expectSilence(live.open(aGatewayPayment(sep.money)));
  expect(asked).toEqual([tls]);
});

describe('a return from SEP', () => {
  const payment = { id: 'PAY_1', reference: 't+1' };
  const known = { Token: 't+1', RefNum: 'uP+A/X==' };

  it.each([
    ['by a query, as in document 4.1', known, 'uP+A/X=='],
    ['with blanks instead of the plus signs', { Token: 't 1', RefNum: 'uP A/X==' }, 'uP+A/X=='],
    ['with our id', { ...known, ResNum: 'PAY_1' }, 'uP+A/X=='],
    ['with our id alone', { RefNum: 'r', ResNum: 'PAY_1' }, 'r'],
    ['with the token of another payment', { ...known, Token: 't2' }, undefined],
    ['with the id of another payment', { ...known, ResNum: 'PAY_2' }, undefined],
    ['that names no payment', { RefNum: 'r' }, undefined],
    ['without a RefNum', { Token: 't+1', RefNum: '' }, undefined],
    ['with a RefNum that is too long', { ...known, RefNum: 'r'.repeat(51) }, undefined],
  ])('%s', (_name, fields, proof) => {
    const read = findDriver('sep')?.readProof;
    expect(read?.(new URLSearchParams(fields), payment)).toBe(proof);
  });

  it('is a hint, whether it is a form or a query', async () => {
    const hints = async (state: string) => {
      const { reference } = await opened();
      if (state === 'OK') provider().pay(reference);
      else provider().move(reference, state);
      return (['form', 'query'] as const).map((how) => {
        provider().returnBy(how);
        const { url, fields } = provider().back(reference);
        return parseReturn('sep', new URLSearchParams(fields ?? new URL(url).search));
      });
    };
    expect(await hints('OK')).toEqual(['paid', 'paid']);
    expect(await hints('CanceledByUser')).toEqual(['cancelled', 'unpaid']);
    expect(await hints('Failed')).toEqual(['unpaid', 'unpaid']);
    expect(parseReturn('sep', new URLSearchParams('a=b'))).toBe('nothing');
  });
});

describe('a payment at SEP whose browser is lost', () => {
  it('is verified by the receipt of its token', async () => {
    const payment = await aPaid();
    const calls = await callsOf(async () => {
      expect(await adapter().verify(payment)).toMatchObject(money);
    });
    expect(calls.map(({ path, json }) => [path, json])).toEqual([
      [
        '/verifyTxnRandomSessionkey/api/v2/ipg/payment/receipt',
        { Token: payment.reference, TerminalNumber: 2015 },
      ],
      [
        '/verifyTxnRandomSessionkey/ipg/VerifyTransaction',
        { RefNum: refNumOf(payment), TerminalNumber: 2015 },
      ],
    ]);
  });

  it.each([
    ['confirmed again, as the text says', 'confirmed', '502229******1234'],
    ['refused as a repetition, as the table says', 'duplicate', null],
  ] as const)(
    'is paid after a late answer, where the next verification is %s',
    async (_name, repeats, cardPanMasked) => {
      const payment = await aPaid();
      const release = provider().hold(/VerifyTransaction/);
      await expectSilence(adapter({ limits: { callMs: 1_000 } }).verify(payment));
      release();
      expect(verifiedOf(payment)).toBe(1);
      provider().answerRepeatsAs(repeats);
      const trackingCode = refNumOf(payment);
      expect(await adapter().verify(payment)).toMatchObject({
        ...money,
        ...{ trackingCode, cardPanMasked },
      });
      // Its money can be found when the payment has ended otherwise.
      expect(await adapter().inquire(payment)).toMatchObject({ ...money, trackingCode });
      provider().answerRepeatsAs('confirmed');
      expect(verifiedOf(payment)).toBe(1);
    },
  );

  it('has no outcome when another call may have verified it before the half hour was over', async () => {
    const payment = await aPaid();
    provider().moveBeforeNextVerify(payment.reference, 'Verified');
    provider().refuse('verify', -6);
    await expect(adapter().verify(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('has no outcome where the verification was first heard of too late', async () => {
    const payment = await aPaid();
    provider().fail('cut', /VerifyTransaction/);
    await expectSilence(adapter().verify(payment));
    const after = later(65);
    // The receipt is gone because of its hour, or because of the verification.
    await expectSilence(after.verify(payment));
    const calls = await callsOf(() => expectSilence(after.inquire(payment)));
    expect(calls.map(({ path }) => path)).toEqual([expect.stringMatching(/receipt$/)]);
    expect(verifiedOf(payment)).toBe(0);
  });

  it('shows money that was captured long ago, by its number', async () => {
    const payment = await aPaid();
    await adapter().verify(payment);
    const trackingCode = refNumOf(payment);
    const after = later(24 * 60);
    expect(await after.inquire({ ...payment, trackingCode })).toMatchObject({
      ...money,
      trackingCode,
    });
    await expectSilence(after.inquire(payment));
  });

  it('has expired only when nobody can take its money any more', async () => {
    const payment = await opened();
    // An hour after the opening, and 90 minutes after the deadline.
    const atDeadline = { ...payment, expiresAt: new Date(Date.now() + minutes(61)) };
    provider().passTime(minutes(61));
    const at = (count: number) =>
      adapter({ now: () => new Date(atDeadline.expiresAt.getTime() + minutes(count)) });
    for (const call of ['inquire', 'verify'] as const) {
      await expectSilence(at(0)[call](atDeadline));
      await expectSilence(at(90)[call](atDeadline));
      expect(await at(91)[call](atDeadline)).toEqual({ state: 'expired' });
    }
  });
});

describe('a RefNum at SEP', () => {
  it('of another payment does not pay one whose receipt says that nobody has paid', async () => {
    const [rich, poor] = [await aPaid(), await opened()];
    const forged = { ...poor, returnProof: refNumOf(rich) };
    for (let times = 0; times < 2; times += 1) {
      const calls = await callsOf(async () => {
        expect(await adapter().verify(forged)).toEqual({ state: 'waiting' });
      });
      expect(calls).toHaveLength(1);
      expect(await adapter().verify(rich)).toMatchObject(money);
    }
    expect(verifiedOf(rich)).toBe(1);
  });

  it('of another payment does not pay one without a receipt', async () => {
    const [rich, poor] = [await aPaid(), await opened()];
    const forged = { ...poor, returnProof: refNumOf(rich) };
    // It has a receipt of its own.
    const called = await withoutReceipt(poor, () => expectSilence(adapter().verify(forged)));
    expect(called).toEqual(['receipt']);
    expect(verifiedOf(rich)).toBe(0);
    expect(await adapter().verify(rich)).toMatchObject(money);
    // It is claimed.
    const again = await withoutReceipt(poor, () => expectSilence(adapter().verify(forged)));
    expect(again).toEqual(['receipt']);
  });

  it('that two payments have at the same moment pays one of them', async () => {
    const first = await aPaid();
    provider().repeatRefNum(first.reference);
    const second = await aPaid();
    expect(refNumOf(second)).toBe(refNumOf(first));
    const verify = () => Promise.all([first, second].map((each) => adapter().verify(each)));
    const states = await verify();
    const refused = { state: 'failed', failureCode: 'gateway_error', code: 'ref_num_used' };
    expect(states.toSorted((one, other) => one.state.localeCompare(other.state))).toMatchObject([
      refused,
      money,
    ]);
    const isFirst = states[0]?.state === 'paid';
    const loser = isFirst ? second : first;
    expect(await adapter().verify(loser)).toMatchObject(refused);
    expect((verifiedOf(first) ?? 0) + (verifiedOf(second) ?? 0)).toBe(1);
  });

  it('of the return pays where the receipt is gone', async () => {
    const payment = await opened();
    provider().passTime(minutes(50));
    provider().pay(payment.reference);
    const returned = { ...payment, returnProof: refNumOf(payment) };
    provider().passTime(minutes(11));
    const after = adapter({ now: () => new Date(Date.now() + minutes(61)) });
    await expectSilence(after.verify(payment));
    const calls = await callsOf(async () => {
      expect(await after.verify(returned)).toMatchObject(money);
    });
    expect(calls.map(({ path }) => path.split('/').at(-1))).toEqual([
      ...['receipt', 'receipt', 'VerifyTransaction'],
    ]);
  });

  const gone = { body: { HasError: true, ErrorCode: 404, Data: null } };
  /** A verification by the RefNum of the return: neither the token nor the RefNum has a receipt. */
  const byReturn = async (payment: OpenedPayment, returnProof: string, now = new Date()) => {
    const server = provider();
    server.failAll(/receipt/, gone);
    try {
      return await adapter({ now: () => now }).verify({ ...payment, returnProof });
    } finally {
      server.failAll(/receipt/, undefined);
    }
  };

  it('of the return does not pay without its own details, or with an old time', async () => {
    const payment = await aPaid();
    const refNum = refNumOf(payment);
    provider().mistakeOnce({ StraceDate: '2019-09-16 18:11:06' });
    await expectSilence(byReturn(payment, refNum));
    for (const StraceDate of [null, '', '1404-09-08 10:00:00', 'yesterday']) {
      provider().mistakeOnce({ StraceDate });
      await expectSilence(byReturn(payment, refNum));
    }
    provider().refuse('verify', 2);
    await expectSilence(byReturn(payment, refNum));
    expect(await byReturn(payment, refNum)).toMatchObject(money);
  });

  it.each([-2, -6, 5])('of the return that SEP answers with %d says nothing', async (code) => {
    const payment = await opened();
    const forged = `forged${code}`;
    provider().refuse('verify', code, code);
    await expectSilence(byReturn(payment, forged));
    const isBack = new Date(payment.expiresAt.getTime() + minutes(91));
    expect(await byReturn(payment, forged, isBack)).toEqual({ state: 'expired' });
    // Another one comes too late: a person has to look.
    await expectSilence(byReturn(payment, 'another', isBack));
    provider().failAll(/receipt/, gone);
    await expectSilence(adapter({ now: () => isBack }).inquire(payment));
    provider().failAll(/receipt/, undefined);
  });

  it('of the return is not claimed while another payment holds the order', async () => {
    const payment = await aPaid();
    provider().failAll(/receipt/, gone);
    const held = { ...payment, returnProof: refNumOf(payment) };
    const state = await adapter().verify(held, async () => false);
    provider().failAll(/receipt/, undefined);
    expect([state, verifiedOf(payment)]).toEqual([{ state: 'unconfirmed' }, 0]);
  });
});

describe('a reversal at SEP', () => {
  const reversed = async () => {
    const payment = await aPaid();
    await adapter().verify(payment);
    return payment;
  };

  it('sends the RefNum of the payment', async () => {
    const payment = await reversed();
    const [call] = await callsOf(() => adapter().reverse!(payment));
    expect(call).toMatchObject({
      path: '/verifyTxnRandomSessionkey/ipg/ReverseTransaction',
      json: { RefNum: refNumOf(payment), TerminalNumber: 2015 },
    });
    expect(await adapter().inquire(payment)).toMatchObject({
      ...{ state: 'failed', failureCode: 'payment_reversed', code: '5' },
      trackingCode: refNumOf(payment),
    });
  });

  it('is no outcome after its time, whose code is not documented', async () => {
    const payment = await reversed();
    provider().passTime(minutes(51));
    await expect(adapter().reverse!(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('is not hidden by a verification that SEP refuses for its time', async () => {
    const payment = await reversed();
    provider().refuse('verify', -6);
    expect(await adapter().refunds!(payment, [])).toEqual([]);
    provider().refuse('verify', -105);
    await expectSilence(adapter().refunds!(payment, []));
    expect(await adapter().refunds!(await opened(), [])).toEqual([]);
  });
});
