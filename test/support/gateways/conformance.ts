import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Money } from '../../../gateways/amount.ts';
import type { OpenedPayment } from '../../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { findPaymentProblems, findDriver, parseReturn } from '../../../gateways/registry.ts';
import { longestInquirySeconds, retryInquirySeconds } from '../../../postgres/sweeper.ts';
import type { Fault, Provider } from '../../fakes/server.ts';
import { faults } from '../../fakes/server.ts';
import type { Subject } from './subject.ts';
import { adapterOf, aPayment, meets, returnUrl } from './subject.ts';

/** What every adapter has to do, whatever its provider speaks. */
export const describeGateway = <P extends Provider>(subject: Subject<P>) => {
  const { driver, money } = subject;
  let provider: P;
  beforeAll(async () => {
    provider = await subject.start();
  });
  afterAll(() => provider.stop());
  beforeEach(() => {
    provider.calls.length = 0;
  });

  const account = (credentials: object = subject.credentials.sandbox) => ({
    kind: 'sandbox' as const,
    credentials: { ...credentials, ...(subject.paths && { baseUrl: provider.url }) },
  });
  const options = () => (subject.tools ? { tools: subject.tools(provider) } : {});
  const adapter = (limits: { callMs?: number; tryMs?: number } = {}) =>
    adapterOf(driver, account(), { ...options(), limits });
  const opened = async (wanted: Money = money): Promise<OpenedPayment> => {
    const payment = aPayment(wanted);
    const opening = await adapter().open(payment);
    if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
    return { ...payment, reference: opening.reference };
  };
  const entryOf = async (reference: string) =>
    subject.entry ? subject.entry(provider, reference) : provider.book.get(reference);
  const secrets = () =>
    Object.values(subject.credentials.sandbox)
      .flat()
      .filter((text) => String(text).length > 8);

  describe(`${driver}: how a payment stands`, () => {
    it.each(subject.scenes)('$what', async ({ play, inquire, verify }) => {
      const payment = await opened();
      await play(provider, payment.reference);
      const before = await entryOf(payment.reference);
      await meets(() => adapter().inquire(payment), inquire);
      // An inquiry changes nothing.
      expect(await entryOf(payment.reference)).toEqual(before);
      await meets(() => adapter().verify(payment), verify);
    });

    it('FS-14: says the same however often it is asked, and verifies with effect once', async () => {
      const payment = await opened();
      await provider.pay(payment.reference);
      const first = await adapter().verify(payment);
      expect(first).toMatchObject({ state: 'paid', ...money });
      expect(first).toHaveProperty('trackingCode', expect.stringMatching(/./));
      const more = await Promise.all([1, 2, 3].map(() => adapter().verify(payment)));
      expect(more).toEqual([first, first, first]);
      expect((await entryOf(payment.reference))?.verified).toBeLessThanOrEqual(1);
    });

    it('FS-08: is silent about a payment the provider does not know', async () => {
      const payment = await opened();
      expect(payment.reference).not.toBe(subject.unknown);
      for (const ask of ['inquire', 'verify'] as const)
        await meets(() => adapter()[ask]({ ...payment, reference: subject.unknown }), 'no_answer');
    });

    it.each([null, ''])('opens also what has no description: %j', async (description) => {
      const opening = await adapter().open({ ...aPayment(money), description });
      expect(opening).toMatchObject({ result: 'opened' });
      for (const { text } of provider.calls) expect(text).not.toMatch(/null|undefined/);
    });

    it('opens again: both are valid, or both are the same', async () => {
      const payment = aPayment(money);
      const openings = [await adapter().open(payment), await adapter().open(payment)];
      for (const opening of openings) {
        expect(opening).toMatchObject({ result: 'opened', redirect: { url: /^https?:\/\// } });
        const reference = opening.result === 'opened' ? opening.reference : '';
        await meets(() => adapter().inquire({ ...payment, reference }), { state: 'waiting' });
      }
    });
  });

  describe(`${driver}: money`, () => {
    it.each(subject.wire)('FS-19: says %o as %o', async (ours, wire) => {
      const payment = await opened(ours);
      expect(await entryOf(payment.reference)).toMatchObject(wire);
      await provider.pay(payment.reference);
      expect(await adapter().verify(payment)).toMatchObject({ state: 'paid', ...ours });
    });

    it.each(subject.wire)('takes %o at create', (ours) => {
      expect(findPaymentProblems(driver, { ...ours, expiresInSeconds: 1_800 })).toEqual([]);
    });

    it.each(subject.refused)('refuses %o at create: %s', (ours, rule) => {
      const problems = findPaymentProblems(driver, { ...ours, expiresInSeconds: 1_800 });
      expect(problems).toMatchObject([
        { rule, message: expect.stringContaining('gateway') as string },
      ]);
    });

    it('has bounds that it takes itself', () => {
      const { currencies, expirySeconds } = findDriver(driver)!.capabilities;
      for (const [currency, { min, max }] of currencies)
        for (const [amount, expiresInSeconds] of [
          [min, expirySeconds.min],
          [max, expirySeconds.max],
        ] as const)
          expect(findPaymentProblems(driver, { amount, currency, expiresInSeconds }), currency).toEqual(
            [],
          );
    });
  });

  describe(`${driver}: test and live`, () => {
    it.each(subject.guards)('refuses %s', async (_what, kind, credentials) => {
      const baseUrl = subject.paths ? { baseUrl: provider.url } : {};
      const guarded = adapterOf(
        driver,
        { kind, credentials: { ...credentials, ...baseUrl } },
        options(),
      );
      const opening = await guarded.open(aPayment(money));
      expect(opening).toMatchObject({ result: 'refused', code: 'account_problem' });
      for (const secret of Object.values(credentials).flat())
        expect(JSON.stringify(opening)).not.toContain(secret);
      await meets(() => guarded.inquire({ ...aPayment(money), reference: 'x' }), 'no_answer');
      await meets(() => guarded.verify({ ...aPayment(money), reference: 'x' }), 'no_answer');
      expect(provider.calls).toEqual([]);
    });
  });

  it(`${driver}: the sweep asks before what is not verified goes back`, () => {
    // Also where one answer is lost; and each of two sweeps may begin half a minute later.
    const longestSeconds = longestInquirySeconds + retryInquirySeconds + 60;
    expect(subject.verifyWindowSeconds ?? Infinity).toBeGreaterThan(longestSeconds);
  });

  describe(`${driver}: what a browser brings back`, () => {
    /** As the service hands it over: a form that is posted is not read. */
    const queryOf = (url: string) => new URLSearchParams(new URL(url).search);

    it.each(['paid', 'unpaid'] as const)(
      'reads the return of what is %s, and it comes where it was told to',
      async (how) => {
        const { reference } = await opened();
        if (how === 'paid') await provider.pay(reference);
        const { url } = provider.back(reference);
        expect(url.split('?')[0]).toBe(returnUrl);
        expect(parseReturn(driver, queryOf(url))).toBe(subject.hints?.[how] ?? 'nothing');
      },
    );

    it('FS-09: takes nothing but a word from whatever it is', () => {
      const names = fc.constantFrom('Status', 'status', 'success', 'says');
      const words = fc.constantFrom('OK', 'NOK', '1', '0', '3', 'paid', 'cancelled');
      const nasty = fc.constantFrom(
        ...['../../x', '..', '.', 'a?b=c', 'a#b', 'a\r\nHost: x', '\0', '%2e%2e', '[', 'null'],
        ...['__proto__', 'constructor', 'toString', '1'.repeat(5_000)],
      );
      const values = fc.oneof(words, nasty, fc.string());
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.oneof(names, fc.string()), values)), (entries) => {
          const url = `${returnUrl}?${new URLSearchParams(entries).toString()}`;
          expect(['paid', 'unpaid', 'cancelled', 'nothing']).toContain(
            parseReturn(driver, queryOf(url)),
          );
        }),
      );
    });
  });

  const { paths } = subject;
  if (!paths) return;

  describe(`${driver}: no usable answer is no outcome`, () => {
    const at = (path: RegExp) => faults.map((fault) => ({ fault, path }));
    /** What never comes is waited for less long than what does, and still long enough to be asked for. */
    const shortMs = 1_500;
    const facing = (fault: Fault) => adapter(fault === 'slow' ? { callMs: shortMs } : {});

    it.each(at(paths.open))('opening: $fault', async ({ fault, path }) => {
      provider.fail(fault, path);
      await expect(facing(fault).open(aPayment(money))).rejects.toThrow(GatewayUnavailable);
    });

    it.each(at(paths.inquire))('FS-07: inquiring: $fault', async ({ fault, path }) => {
      const payment = await opened();
      await provider.pay(payment.reference);
      for (const ask of ['inquire', 'verify'] as const) {
        provider.fail(fault, path);
        const asked = facing(fault);
        const error = await asked[ask](payment).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(GatewayUnavailable);
        for (const secret of secrets()) expect(String(error)).not.toContain(secret);
      }
      expect(await adapter().verify(payment)).toMatchObject({ state: 'paid', ...money });
    });

    it.each(at(paths.verify))('FS-14: verifying: $fault, then asked again', async (plan) => {
      const payment = await opened();
      await provider.pay(payment.reference);
      provider.fail(plan.fault, plan.path);
      await meets(() => facing(plan.fault).verify(payment), 'no_answer');
      expect(await adapter().verify(payment)).toMatchObject({
        state: 'paid',
        ...money,
        trackingCode: expect.stringMatching(/./) as string,
      });
      expect((await entryOf(payment.reference))?.verified).toBeLessThanOrEqual(1);
    });

    it('gives a call and a whole try no more time than they have', async () => {
      const payment = await opened();
      await provider.pay(payment.reference);
      for (const [limit, other] of [
        ['callMs', 'tryMs'],
        ['tryMs', 'callMs'],
      ] as const) {
        provider.fail('slow' satisfies Fault, paths.inquire);
        const began = performance.now();
        const inTry = adapter({ [limit]: shortMs, [other]: 60_000 });
        await meets(() => inTry.inquire(payment), 'no_answer');
        expect(performance.now() - began, limit).toBeLessThan(shortMs + 5_000);
        if (limit === 'callMs') continue;
        // Its time is over: nothing more is asked in it.
        provider.calls.length = 0;
        await meets(() => inTry.inquire(payment), 'no_answer');
        expect(provider.calls).toEqual([]);
      }
    });

    it('FS-09: escapes a reference in a path, and asks nothing by one that could climb', async () => {
      const payment = await opened();
      const ask = async (reference: string) => {
        provider.calls.length = 0;
        await meets(() => adapter().inquire({ ...payment, reference }), 'no_answer');
        return provider.calls.filter(({ method }) => method === 'GET');
      };
      for (const reference of ['a?b=c', 'a#b', 'a/b', 'a b', 'a%2fb', 'é'])
        for (const { path } of await ask(reference))
          expect(path.split(/[/?]/)).toContain(encodeURIComponent(reference));
      for (const reference of ['../../v1/x', '..', '.', '', 'a\r\nX: y', 'a\0'])
        expect(await ask(reference)).toEqual([]);
    });

    it('goes to another address on loopback only, and only where that is allowed', async () => {
      for (const [baseUrl, allowLoopback] of [
        [provider.url, false],
        ['https://gateway.example', true],
        ['http://169.254.169.254', true],
        ['http://127.0.0.1.example', true],
        ['file:///etc/passwd', true],
      ] as const) {
        const credentials = { ...subject.credentials.sandbox, baseUrl };
        const elsewhere = adapterOf(driver, { kind: 'sandbox', credentials }, { allowLoopback });
        expect(await elsewhere.open(aPayment(money))).toMatchObject({ code: 'account_problem' });
      }
      expect(provider.calls).toEqual([]);
    });
  });
};
