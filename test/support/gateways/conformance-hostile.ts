import * as fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Payer } from '../../../contract/payer.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import type { GatewayAdapter, OpenedPayment } from '../../../gateways/gateway.ts';
import { findDriver } from '../../../gateways/registry.ts';
import { entryIn, faults, type Call, type Provider } from '../../fakes/server.ts';
import { adapterCalls } from './adapter-calls.ts';
import { aGatewayPayment, answerOf, returnUrl, type ProviderFixture } from './fixture.ts';
import { aProvider, fieldsOf } from './provider.ts';

/** What a driver with the ability survives: forged returns, proofs of others, and a wire that breaks in every call. */
export const describeHostile = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  describeProofs(fixture);
  describeReports(fixture);
  if (!fixture.paths) return;
  describePayers(fixture);
  describeOtherCalls(fixture);
};

const payer: Payer = {
  mobile: '+989121234567',
  email: 'ada@shop.example',
  name: 'Ada Lovelace',
  locale: 'de-AT',
};

const describePayers = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  const { driver, money } = fixture;
  const { adapter, callsOf, ...account } = aProvider(fixture);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });
  const openingOf = (known?: Payer | null) =>
    adapter().open({ ...aGatewayPayment(money), ...(known !== undefined && { payer: known }) });
  /** The names of all fields of an opening. */
  const fieldsOfOpening = async (known?: Payer | null) => {
    const calls = await callsOf(() => openingOf(known));
    return calls.flatMap(({ json, form }) => [...namesIn(json), ...form.keys()]);
  };

  describe(`${driver}: the data of a payer`, () => {
    it('are in no field where there are none', async () => {
      const before = await fieldsOfOpening();
      expect([await fieldsOfOpening(null), await fieldsOfOpening({})]).toEqual([before, before]);
    });

    it('are sent only to a provider whose fake may dislike them', async () => {
      const [without, whole] = [await fieldsOfOpening(), await fieldsOfOpening(payer)];
      expect(whole.length > without.length).toBe(provider.dislikePayers !== undefined);
    });

    it('that it refuses are known as the reason, and leave no echo', async () => {
      if (!provider.dislikePayers) return;
      provider.dislikePayers(true);
      const refused = await openingOf(payer);
      const plain = await openingOf(null);
      provider.dislikePayers(false);
      expect(refused).toMatchObject({ result: 'refused', isAboutPayer: true });
      expect(JSON.stringify(refused)).not.toMatch(/9121234|ada@|lovelace/i);
      expect(plain).toMatchObject({ result: 'opened' });
    });
  });
};

const namesIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, part]) => [name, ...namesIn(part)])
    : [];

const describeProofs = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  const { driver, money, proof } = fixture;
  const { readProof } = findDriver(driver)!;

  it(`${driver}: says which fields its proof is read from, if it reads one`, () => {
    expect(proof !== undefined).toBe(readProof !== undefined);
  });
  if (!proof || !readProof) return;

  const { adapter, opened, ...account } = aProvider(fixture);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });

  /** A payment whose payer has paid, and their return. */
  const returned = async (amount = money) => {
    const payment = await opened(amount);
    await provider.pay(payment.reference);
    return { payment, fields: fieldsOf(provider.back(payment.reference)) };
  };
  const proofOf = (payment: OpenedPayment, fields: URLSearchParams) => readProof(fields, payment);
  const verifiedTimes = ({ reference }: OpenedPayment) =>
    entryIn(provider.book, reference).verified;

  describe(`${driver}: the proof of a return`, () => {
    it('is short and printable, and of its own payment alone', async () => {
      const [one, other] = [await returned(), await returned()];
      expect(proofOf(one.payment, one.fields)).toMatch(/^[\x21-\x7e]{1,200}$/);
      expect(proofOf(one.payment, one.fields)).not.toBe(proofOf(other.payment, other.fields));
      expect(proofOf(one.payment, other.fields)).toBeUndefined();
    });

    it.each(proof.names)('is none in a return whose %s is forged', async (name) => {
      const [one, other] = [await returned(), await returned()];
      const [own, foreign] = [one.fields.get(name), other.fields.get(name)];
      expect(foreign).not.toBe(own);
      for (const value of [foreign!, '', `${own}0`, '__proto__']) {
        const forged = new URLSearchParams(one.fields);
        forged.set(name, value);
        expect(proofOf(one.payment, forged), value).toBeUndefined();
      }
    });

    it('is none in a return that names no payment', async () => {
      const { payment, fields } = await returned();
      for (const name of proof.names) fields.delete(name);
      expect(proofOf(payment, fields)).toBeUndefined();
    });

    it('is none, or a short one, whatever the field of the proof holds', async () => {
      const { payment, fields } = await returned();
      const long = fc.constantFrom(
        '',
        ' ',
        'x'.repeat(201),
        '9'.repeat(5_000),
        'a\u0000b',
        'é',
        'a b',
      );
      fc.assert(
        fc.property(fc.oneof(long, fc.string()), (value) => {
          const forged = new URLSearchParams(fields);
          forged.set(proof.field, value);
          expect(proofOf(payment, forged) ?? 'none').toMatch(/^[\x21-\x7e]{1,200}$/);
        }),
      );
      fields.delete(proof.field);
      expect(proofOf(payment, fields)).toBeUndefined();
    });

    const { forget } = proof;
    /** `alone`: nothing but the proof leads to a payment. */
    describe.each(forget ? (['beside the reference', 'alone'] as const) : (['alone'] as const))(
      '%s',
      (how) => {
        const isAlone = how === 'alone';
        beforeEach(() => () => forget?.(provider, false));
        const verify = (payment: OpenedPayment) => answerOf(adapter().verify(payment));
        const isPaid = (answer: unknown) => Object(answer).state === 'paid';

        it.each(['own first', 'stolen first', 'at once'])(
          'pays for one payment, whichever has it first: %s',
          async (order) => {
            const { payment, fields } = await returned();
            const thief = await opened();
            const returnProof = proofOf(payment, fields)!;
            forget?.(provider, isAlone);
            const own = () => verify(payment);
            const theft = () => verify({ ...thief, returnProof });
            const [first, second] = order === 'stolen first' ? [theft, own] : [own, theft];
            const answers =
              order === 'at once'
                ? await Promise.all([first(), second()])
                : [await first(), await second()];
            expect(answers.filter(isPaid)).toHaveLength(1);
            expect([verifiedTimes(payment), verifiedTimes(thief)]).toEqual([1, 0]);
            // Whoever has a proof of somebody else may still pay.
            expect(answers.map((each) => Object(each).state)).not.toContain('failed');
          },
        );

        it('of a smaller payment does not pay for a larger one', async () => {
          const { payment, fields } = await returned();
          const larger = await opened({ ...money, amount: money.amount * 2 });
          forget?.(provider, isAlone);
          const answer = await verify({ ...larger, returnProof: proofOf(payment, fields)! });
          expect(answer).not.toMatchObject({ state: 'paid', amount: larger.amount });
        });

        it.each(['no-such-proof', '0', '../../x', 'x'.repeat(200)])(
          'that the provider does not know takes and ends nothing: %s',
          async (returnProof) => {
            const payment = await opened();
            forget?.(provider, isAlone);
            const { state } = Object(await verify({ ...payment, returnProof }));
            expect([undefined, 'waiting', 'processing']).toContain(state);
            forget?.(provider, false);
            await provider.pay(payment.reference);
            expect(await verify(payment)).toMatchObject({ state: 'paid', ...money });
          },
        );

        it('is not there while the payer has not come back, which fails nothing', async () => {
          const { payment } = await returned();
          forget?.(provider, isAlone);
          const { state } = Object(await verify({ ...payment, returnProof: null }));
          expect(isAlone ? [undefined, 'waiting', 'processing'] : ['paid']).toContain(state);
        });
      },
    );
  });
};

/** The time of a call is no matter of the driver's. */
const wireFaults = faults.filter((fault) => fault !== 'slow');

const reportKey = 'a-key-that-nobody-can-guess-0123456789';
const reportUrl = `${returnUrl.replace(/return$/, 'reports')}/${reportKey}`;

const describeReports = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  const { driver, money, openings = [], tools } = fixture;
  if (tools) return; // The sandbox calls nobody.
  const { adapter, callsOf, ...account } = aProvider(fixture);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });
  const takes = findDriver(driver)!.takesReports ?? false;
  const aPayment = () => ({ ...aGatewayPayment(money), reportUrl });
  const countKeys = (calls: Call[]) =>
    calls.flatMap(({ path, headers, text }) =>
      `${path} ${JSON.stringify(headers)} ${text}`.split(reportKey).slice(1),
    ).length;

  describe(`${driver}: the address for reports of a payment`, () => {
    it(`is ${takes ? 'sent once, in the body of the opening' : 'sent nowhere'}`, async () => {
      const payment = aPayment();
      let reference = '';
      const opening = await callsOf(async () => {
        const answer = await adapter().open(payment);
        if (answer.result === 'opened') ({ reference } = answer);
      });
      expect(countKeys(opening)).toBe(takes ? 1 : 0);
      for (const { path } of opening) expect(path).not.toContain(reportKey);
      const later = await callsOf(async () => {
        await answerOf(adapter().inquire({ ...payment, reference }));
        await provider.pay(reference);
        await answerOf(adapter().verify({ ...payment, reference }));
        await adapter().expire?.({ ...payment, reference });
      });
      expect(countKeys(later)).toBe(0);
    });

    it.each(openings)('is in no answer to a refusal: %s', async (_name, arrange) => {
      arrange(provider);
      const answer = await adapter()
        .open(aPayment())
        .catch((error: unknown) => String(error));
      expect(JSON.stringify(answer)).not.toContain(reportKey);
    });

    it('is in no error', async () => {
      for (const fault of wireFaults) {
        provider.fail(fault);
        const error: unknown = await adapter()
          .open(aPayment())
          .catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(GatewayUnavailable);
        expect(String(error)).not.toContain(reportKey);
      }
    });
  });
};

/** The cases of the fixture and the refunds have these; `renew` reports a lost answer. */
const elsewhere = new Set(['open', 'inquire', 'verify', 'refund', 'refunds', 'renew']);
const others = Object.keys(adapterCalls).filter((name) => !elsewhere.has(name));

const describeOtherCalls = <P extends Provider>(fixture: ProviderFixture<P>): void => {
  const { driver, paths, refunds } = fixture;
  const { adapter, opened, paid, ...account } = aProvider(fixture, refunds?.kind);
  let provider: P;
  beforeAll(() => {
    provider = account.provider();
  });
  beforeEach(() => {
    refunds?.reset?.(provider);
  });

  const period = { from: new Date(Date.now() - 86_400_000), to: new Date() };
  const calls: Record<string, (gateway: GatewayAdapter, payment: OpenedPayment) => unknown> = {
    expire: (gateway, payment) => gateway.expire?.(payment),
    reverse: (gateway, payment) => gateway.reverse?.(payment),
    disputes: (gateway, payment) => gateway.disputes?.(payment),
    listUnverified: (gateway) => gateway.listUnverified?.(),
    book: (gateway) => gateway.book?.(period, null),
    balance: (gateway) => gateway.balance?.(),
    payout: (gateway) => gateway.payout?.('po_1'),
    payoutLines: (gateway) => gateway.payoutLines?.('po_1', null),
    payouts: (gateway) => gateway.payouts?.(period.from, null),
  };

  describe(`${driver}: no usable response to another call`, () => {
    it('knows every call of an adapter', () => {
      expect(Object.keys(calls).toSorted()).toEqual(others.toSorted());
    });

    it.each(others)('%s throws for every fault of the wire', async (name) => {
      if (!Object.hasOwn(adapter(), name)) return;
      for (const fault of wireFaults) {
        const payment = name === 'expire' ? await opened() : await paid();
        provider.fail(fault, paths?.[name as 'expire' | 'reverse']);
        const answer = calls[name]?.(adapter(), payment);
        expect(await answerOf(answer as Promise<object>), fault).toBe('no_answer');
      }
    });

    it('closes a payment once, whatever became of the answer before', async () => {
      if (!adapter().expire) return;
      for (const fault of wireFaults) {
        const payment = await opened();
        provider.fail(fault, paths?.expire);
        await answerOf(adapter().expire!(payment) as Promise<never>);
        // True where the provider had not acted, or says so again.
        expect(typeof (await adapter().expire!(payment))).toBe('boolean');
        expect(await adapter().inquire(payment), fault).not.toMatchObject({ state: 'waiting' });
      }
    });
  });
};
