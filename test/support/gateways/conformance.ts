import * as fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { findPaymentProblems, findDriver, parseReturn } from '../../../gateways/registry.ts';
import {
  longInquiryIntervalSeconds,
  retryIntervalSeconds,
} from '../../../postgres/payments/sweeper.ts';
import { faults, type Fault, type Provider } from '../../fakes/server.ts';
import { describeRefunds } from './conformance-refunds.ts';
import {
  adapterOf,
  aGatewayPayment,
  answerOf,
  expectStatus,
  refusalOf,
  returnUrl,
  type ProviderFixture,
} from './fixture.ts';
import { describeHostile } from './conformance-hostile.ts';
import { aProvider, fieldsOf } from './provider.ts';

/** The tests that every adapter passes. @returns the driver's name */
export const describeGateway = <P extends Provider>(fixture: ProviderFixture<P>): string => {
  const { driver, money } = fixture;
  describeRefunds(fixture);
  describeHostile(fixture);
  const { adapter, opened, paid, ...account } = aProvider(fixture);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });
  beforeEach(() => {
    provider.calls.length = 0;
  });

  const entryOf = async (reference: string) =>
    fixture.entry ? fixture.entry(provider, reference) : provider.book.get(reference);
  const secrets = () =>
    Object.values(fixture.credentials.sandbox)
      .flat()
      .filter((text) => String(text).length > 8);

  describe(`${driver}: the status of a payment`, () => {
    it.each(fixture.cases)('$name', async ({ arrange, inquire, verify }) => {
      const payment = await opened();
      await arrange(provider, payment.reference);
      const before = await entryOf(payment.reference);
      await expectStatus(() => adapter().inquire(payment), inquire);
      // The inquiry has changed nothing.
      expect(await entryOf(payment.reference)).toEqual(before);
      await expectStatus(() => adapter().verify(payment), verify);
    });

    it('returns the same status for every verification, and verifies once', async () => {
      const payment = await opened();
      await provider.pay(payment.reference);
      const first = await adapter().verify(payment);
      expect(first).toMatchObject({ state: 'paid', ...money });
      expect(first).toHaveProperty('trackingCode', expect.stringMatching(/./));
      const more = await Promise.all([1, 2, 3].map(() => adapter().verify(payment)));
      expect(more).toEqual([first, first, first]);
      expect((await entryOf(payment.reference))?.verified).toBeLessThanOrEqual(1);
    });

    const isTwoStep = findDriver(driver)!.capabilities.twoStepVerify;

    it.runIf(isTwoStep)(
      'asks once whether it may take the money, and takes nothing after a no',
      async () => {
        const payment = await opened();
        const asked: number[] = [];
        const answering = (may: boolean) => async () => {
          asked.push(provider.calls.length);
          return may;
        };
        // Nobody has paid: there is nothing to take.
        expect(await adapter().verify(payment, answering(false))).toEqual({ state: 'waiting' });
        expect(asked).toEqual([]);
        await provider.pay(payment.reference);
        expect(await adapter().verify(payment, answering(false))).toEqual({ state: 'unconfirmed' });
        expect(asked).toEqual([provider.calls.length]);
        expect((await entryOf(payment.reference))?.verified).toBe(0);
        expect(await adapter().verify(payment, answering(true))).toMatchObject({ state: 'paid' });
        expect(asked).toHaveLength(2);
        // The adapter does not ask again about taken money.
        expect(await adapter().verify(payment, answering(false))).toMatchObject({ state: 'paid' });
        expect(asked).toHaveLength(2);
      },
    );

    it('throws for a reference that the provider does not have', async () => {
      const payment = await opened();
      expect(payment.reference).not.toBe(fixture.unknown);
      for (const call of ['inquire', 'verify'] as const)
        await expectStatus(
          () => adapter()[call]({ ...payment, reference: fixture.unknown }),
          'no_answer',
        );
    });

    it.each([null, '', ' ', '\u0000\t', 'Two\u0000\ttickets'])(
      'opens a payment with the description %j',
      async (description) => {
        const opening = await adapter().open({ ...aGatewayPayment(money), description });
        expect(opening).toMatchObject({ result: 'opened' });
        for (const { text } of provider.calls)
          expect(text).not.toMatch(/null|undefined|\\u0000|\\t|%00|%09|":"\s+"/);
      },
    );

    it('opens a payment twice: both references are valid', async () => {
      const payment = aGatewayPayment(money);
      const openings = [await adapter().open(payment), await adapter().open(payment)];
      for (const opening of openings) {
        expect(opening).toMatchObject({ result: 'opened', redirect: { url: /^https?:\/\// } });
        const reference = opening.result === 'opened' ? opening.reference : '';
        await expectStatus(() => adapter().inquire({ ...payment, reference }), {
          state: 'waiting',
        });
      }
    });
  });

  const { openings = [], reversals = [] } = fixture;
  it.each(openings)(`${driver}: a refusal of an opening: %s`, async (_name, arrange, expected) => {
    arrange(provider);
    const opening = adapter().open(aGatewayPayment(money));
    expect(await answerOf(opening)).toEqual(refusalOf(expected));
  });

  it.each(reversals)(`${driver}: a refusal of a reversal: %s`, async (_name, arrange, expected) => {
    const payment = await paid();
    arrange(provider);
    expect(await answerOf(adapter().reverse?.(payment))).toEqual(refusalOf(expected));
  });

  describe(`${driver}: money`, () => {
    it.each(fixture.wire)('accepts %o, and sends %o', async (ours, wire) => {
      expect(findPaymentProblems(driver, { ...ours, expiresInSeconds: 1_800 })).toEqual([]);
      const payment = await opened(ours);
      expect(await entryOf(payment.reference)).toMatchObject(wire);
      await provider.pay(payment.reference);
      expect(await adapter().verify(payment)).toMatchObject({ state: 'paid', ...ours });
    });

    it.each(fixture.rejected)('rejects %o by %s', (ours, rule) => {
      const problems = findPaymentProblems(driver, { ...ours, expiresInSeconds: 1_800 });
      expect(problems).toMatchObject([
        { rule, message: expect.stringContaining('gateway') as string },
      ]);
    });

    it('accepts its own bounds', () => {
      const { currencies, expirySeconds } = findDriver(driver)!.capabilities;
      for (const [currency, { min, max }] of currencies)
        for (const [amount, expiresInSeconds] of [
          [min, expirySeconds.min],
          [max, expirySeconds.max],
        ] as const)
          expect(
            findPaymentProblems(driver, { amount, currency, expiresInSeconds }),
            currency,
          ).toEqual([]);
    });
  });

  describe(`${driver}: test and live`, () => {
    it.each(fixture.guards)('refuses %s', async (_name, kind, credentials) => {
      const baseUrl = fixture.paths ? { baseUrl: provider.url } : {};
      const guarded = adapterOf(
        driver,
        { kind, credentials: { ...credentials, ...baseUrl } },
        fixture.tools && { tools: fixture.tools(provider) },
      );
      const opening = await guarded.open(aGatewayPayment(money));
      expect(opening).toMatchObject({ result: 'refused', code: 'account_problem' });
      for (const secret of Object.values(credentials).flat())
        expect(JSON.stringify(opening)).not.toContain(secret);
      for (const call of [guarded.inquire, guarded.verify])
        await expectStatus(() => call({ ...aGatewayPayment(money), reference: 'x' }), 'no_answer');
      expect(provider.calls).toEqual([]);
    });
  });

  it(`${driver}: the sweeper inquires before unverified money goes back`, () => {
    // One lost response is included. Each of the two sweeps may start half a minute late.
    const longestSeconds = longInquiryIntervalSeconds + retryIntervalSeconds + 60;
    expect(fixture.verifyWindowSeconds ?? Infinity).toBeGreaterThan(longestSeconds);
  });

  describe(`${driver}: the return of the payer`, () => {
    it.each(['paid', 'unpaid'] as const)(
      'is parsed for a payment that is %s, and has our return URL',
      async (outcome) => {
        const { reference } = await opened();
        if (outcome === 'paid') await provider.pay(reference);
        const back = provider.back(reference);
        expect(back.url.split('?')[0]).toBe(returnUrl);
        expect(parseReturn(driver, fieldsOf(back))).toBe(fixture.hints?.[outcome] ?? 'nothing');
      },
    );

    it('is parsed to a hint, whatever it holds', () => {
      const names = fc.constantFrom('Status', 'status', 'success', 'result');
      const words = fc.constantFrom('OK', 'NOK', '1', '0', '3', 'paid', 'cancelled');
      const nasty = fc.constantFrom(
        ...['../../x', '..', '.', 'a?b=c', 'a#b', 'a\r\nHost: x', '\0', '%2e%2e', '[', 'null'],
        ...['__proto__', 'constructor', 'toString', '1'.repeat(5_000)],
      );
      const values = fc.oneof(words, nasty, fc.string());
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.oneof(names, fc.string()), values)), (entries) => {
          expect(['paid', 'unpaid', 'cancelled', 'nothing']).toContain(
            parseReturn(driver, new URLSearchParams(entries)),
          );
        }),
      );
    });
  });

  const { paths } = fixture;
  if (!paths) return driver;

  describe(`${driver}: no usable response`, () => {
    /** Shortens the wait for a response that never comes. */
    const shortMs = 1_000;
    const adapterFor = (fault: Fault, callMs = shortMs) =>
      adapter({ limits: fault === 'slow' ? { callMs } : {} });

    it.each(faults)('throws when opening ends with: %s', async (fault) => {
      provider.fail(fault, paths.open);
      await expect(adapterFor(fault).open(aGatewayPayment(money))).rejects.toThrow(
        GatewayUnavailable,
      );
    });

    it.each(faults)('throws when an inquiry ends with: %s', async (fault) => {
      const payment = await opened();
      await provider.pay(payment.reference);
      for (const call of ['inquire', 'verify'] as const) {
        provider.fail(fault, paths.inquire);
        const failing = adapterFor(fault);
        const error = await failing[call](payment).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(GatewayUnavailable);
        for (const secret of secrets()) expect(String(error)).not.toContain(secret);
      }
      expect(await adapter().verify(payment)).toMatchObject({ state: 'paid', ...money });
    });

    it.each(faults)('verifies a second time after: %s', async (fault) => {
      const payment = await opened();
      await provider.pay(payment.reference);
      provider.fail(fault, paths.verify);
      // An inquiry goes before it, which needs its time on a busy machine.
      await expectStatus(() => adapterFor(fault, 1_500).verify(payment), 'no_answer');
      expect(await adapter().verify(payment)).toMatchObject({
        state: 'paid',
        ...money,
        trackingCode: expect.stringMatching(/./) as string,
      });
      expect((await entryOf(payment.reference))?.verified).toBeLessThanOrEqual(1);
    });

    it('limits the time of a call and of a whole try', async () => {
      const payment = await opened();
      await provider.pay(payment.reference);
      for (const [limit, other] of [
        ['callMs', 'tryMs'],
        ['tryMs', 'callMs'],
      ] as const) {
        provider.fail('slow' satisfies Fault, paths.inquire);
        const began = performance.now();
        const inTry = adapter({ limits: { [limit]: shortMs, [other]: 60_000 } });
        await expectStatus(() => inTry.inquire(payment), 'no_answer');
        expect(performance.now() - began, limit).toBeLessThan(30_000);
        if (limit === 'callMs') continue;
        // The time of the try is over: it makes no more calls.
        provider.calls.length = 0;
        await expectStatus(() => inTry.inquire(payment), 'no_answer');
        expect(provider.calls).toEqual([]);
      }
    });

    it('escapes a reference in a path, and calls nothing with one that could climb', async () => {
      const payment = await opened();
      const inquire = async (reference: string) => {
        provider.calls.length = 0;
        await expectStatus(() => adapter().inquire({ ...payment, reference }), 'no_answer');
        return provider.calls.filter(({ method }) => method === 'GET');
      };
      for (const reference of ['a?b=c', 'a#b', 'a/b', 'a b', 'a%2fb', 'é'])
        for (const { path } of await inquire(reference))
          expect(path.split(/[/?]/)).toContain(encodeURIComponent(reference));
      for (const reference of ['../../v1/x', '..', '.', '', 'a\r\nX: y', 'a\0'])
        expect(await inquire(reference)).toEqual([]);
    });

    it('uses another base URL on loopback only, and only if a setting allows it', async () => {
      for (const [baseUrl, allowLoopback] of [
        [provider.url, false],
        ['https://gateway.example', true],
        ['http://169.254.169.254', true],
        ['http://127.0.0.1.example', true],
        ['file:///etc/passwd', true],
      ] as const) {
        const credentials = { ...fixture.credentials.sandbox, baseUrl };
        const elsewhere = adapterOf(driver, { kind: 'sandbox', credentials }, { allowLoopback });
        expect(await elsewhere.open(aGatewayPayment(money))).toMatchObject({
          code: 'account_problem',
        });
      }
      expect(provider.calls).toEqual([]);
    });
  });
  return driver;
};
