import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toWire } from '../../../gateways/amount.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { GatewayRefund, OpenedPayment } from '../../../gateways/gateway.ts';
import { findDriver } from '../../../gateways/registry.ts';
import { faults, type Provider } from '../../fakes/server.ts';
import { aGatewayRefund, type ProviderFixture } from './fixture.ts';
import { aProvider } from './provider.ts';

/** The tests that every adapter with refunds passes. */
export const describeRefunds = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  const { driver, money, refunds: cases } = fixture;
  const capabilities = findDriver(driver)!.capabilities;
  const { refund: terms } = capabilities;

  it(`${driver}: has refund cases if its capabilities have refunds`, () => {
    expect(cases !== undefined).toBe(terms !== null);
  });
  if (!terms || !cases) return;

  const { adapter, adapterWith, paid, ...account } = aProvider(fixture, cases.kind);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });
  beforeEach(() => {
    cases.reset?.(provider);
  });

  const part = money.amount * 0.4;
  const aRefund = (amount = part) => aGatewayRefund(amount);
  const tell = async (payment: OpenedPayment, refund: GatewayRefund, callMs?: number) =>
    adapter({ limits: callMs === undefined ? {} : { callMs } }).refund!(payment, refund);
  const list = async (payment: OpenedPayment) => adapter().refunds!(payment, []);
  const wire = (amount: number) => toWire(capabilities, { ...money, amount });
  const inBook = async (payment: OpenedPayment) =>
    (await cases.book(provider, payment.reference)).map(({ amount }) => amount);

  describe(`${driver}: refunds`, () => {
    it.each([
      ['a part', part],
      ['the whole amount', money.amount],
    ])('gives back %s, and lists it', async (_name, amount) => {
      const payment = await paid();
      expect(await list(payment)).toEqual([]);
      const refund = aRefund(amount);
      const answer = await tell(payment, refund);
      const { currency } = money;
      const refundId = terms.keyed || cases.carriesOurId ? refund.id : null;
      expect(answer).toMatchObject({ result: 'accepted', refund: { amount, currency, refundId } });
      const { reference } = answer.result === 'accepted' ? answer.refund : { reference: '' };
      expect(await adapter().refunds!(payment, [reference])).toMatchObject([
        { reference, refundId, amount, currency, state: 'succeeded', failureCode: null },
      ]);
      expect(await inBook(payment)).toEqual([wire(amount)]);
    });

    it('tells two equal refunds apart, or refuses the second', async () => {
      const payment = await paid();
      const answers = [await tell(payment, aRefund()), await tell(payment, aRefund())];
      const isOnce = terms.several === 'once';
      expect(answers.map(({ result }) => result)).toEqual([
        'accepted',
        isOnce ? 'refused' : 'accepted',
      ]);
      expect(await inBook(payment)).toEqual(isOnce ? [wire(part)] : [wire(part), wire(part)]);
      const references = (await list(payment)).map(({ reference }) => reference);
      expect(new Set(references).size).toBe(isOnce ? 1 : 2);
    });

    it('lists a refund that was made at the dashboard', async () => {
      const payment = await paid();
      await cases.atDashboard(provider, payment.reference, wire(part));
      expect(await list(payment)).toMatchObject([
        { refundId: null, amount: part, ...{ currency: money.currency } },
      ]);
    });

    it('gives nothing back beyond the payment', async () => {
      const payment = await paid();
      await cases.atDashboard(provider, payment.reference, wire(part));
      expect(await tell(payment, aRefund(money.amount))).toMatchObject({ result: 'refused' });
      expect(await inBook(payment)).toEqual([wire(part)]);
    });

    it.each(cases.states)('shows a refund that is %s', async (_name, arrange, expected) => {
      const payment = await paid();
      expect(await tell(payment, aRefund())).toMatchObject({ result: 'accepted' });
      await arrange(provider, payment.reference);
      expect(await list(payment)).toMatchObject([{ failureCode: null, ...expected, amount: part }]);
    });

    it.each(cases.refusals)('returns a refusal: %s', async (_name, arrange, failureCode) => {
      const payment = await paid();
      await arrange(provider, payment.reference);
      const before = await inBook(payment);
      const answer = tell(payment, aRefund());
      if (failureCode === 'no_answer') await expect(answer).rejects.toThrow(GatewayUnavailable);
      else expect(await answer).toMatchObject({ result: 'refused', failureCode });
      expect(await inBook(payment)).toEqual(before);
    });

    it.each(terms.keyed ? [terms] : [])('gives back once, however often it is told', async () => {
      const payment = await paid();
      const refund = aRefund();
      const first = await tell(payment, refund);
      const toldAt = new Date();
      const more = await Promise.all(
        [1, 2].map((timesTold) => tell(payment, { ...refund, timesTold, toldAt })),
      );
      expect(more).toEqual([first, first]);
      expect(await inBook(payment)).toEqual([wire(part)]);
    });

    it.each(terms.credentials === null ? [] : [terms.credentials])(
      'refunds nothing without the credentials for it',
      async (field) => {
        const { [field]: _, ...others } = {
          ...fixture.credentials[cases.kind],
        } as Record<string, unknown>;
        const payment = await paid();
        const answer = await adapterWith(others).refund?.(payment, aRefund());
        expect(answer ?? { failureCode: 'merchant_configuration' }).toMatchObject({
          failureCode: 'merchant_configuration',
        });
        expect(await inBook(payment)).toEqual([]);
      },
    );
  });

  const { paths } = cases;
  if (!paths) return;

  describe(`${driver}: refunds without a usable response`, () => {
    const secrets = () =>
      JSON.stringify(fixture.credentials[cases.kind]).match(/[\w-]{12,}/g) ?? [];

    it.each(faults)('gives back at most once after: %s', async (fault) => {
      const payment = await paid();
      const refund = aRefund();
      provider.fail(fault, paths.refund, paths.body);
      const error: unknown = await tell(
        payment,
        refund,
        fault === 'slow' ? 1_500 : undefined,
      ).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(GatewayUnavailable);
      for (const secret of secrets()) expect(String(error)).not.toContain(secret);
      const known = fault === 'cut' ? [] : [wire(part)];
      expect(await inBook(payment)).toEqual(known);
      expect((await list(payment)).map(({ amount }) => wire(amount))).toEqual(known);
      if (!terms.keyed) return;
      const again = { ...refund, timesTold: 1, toldAt: new Date() };
      expect(await tell(payment, again)).toMatchObject({ result: 'accepted' });
      expect(await inBook(payment)).toEqual([wire(part)]);
    });

    it.each(faults.filter((fault) => fault !== 'slow'))(
      'lists nothing after: %s',
      async (fault) => {
        const payment = await paid();
        await tell(payment, aRefund());
        provider.fail(fault, paths.list);
        await expect(list(payment)).rejects.toThrow(GatewayUnavailable);
      },
    );
  });
};
