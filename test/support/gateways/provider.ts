import { afterAll, beforeAll } from 'vitest';
import type { GatewayAdapter, OpenedPayment } from '../../../gateways/gateway.ts';
import { findDriver } from '../../../gateways/registry.ts';
import {
  type AdapterOptions,
  adapterOf,
  aGatewayPayment,
  type ProviderFixture,
} from './fixture.ts';
import type { Back, Call, Provider } from '../../fakes/server.ts';

/** The fields of a payer's return, as the API passes them on. */
export const fieldsOf = ({ url, fields }: Back): URLSearchParams =>
  new URLSearchParams([...new URL(url).searchParams, ...Object.entries(fields ?? {})]);

/** A fake provider for a test file, with an account at it. */
export const aProvider = <P extends Provider>(
  fixture: ProviderFixture<P>,
  kind: 'sandbox' | 'live' = 'sandbox',
) => {
  let provider: P;
  beforeAll(async () => {
    provider = await fixture.start(kind);
  });
  afterAll(() => provider.stop());
  const { driver, money, tools } = fixture;
  /** With other credentials than those of the account. */
  const adapterWith = (
    credentials: object | undefined,
    options: AdapterOptions = {},
  ): GatewayAdapter =>
    adapterOf(
      driver,
      { kind, credentials: { ...credentials, ...(fixture.paths && { baseUrl: provider.url }) } },
      { ...(tools && { tools: tools(provider) }), ...options },
    );
  const adapter = (options?: AdapterOptions) => adapterWith(fixture.credentials[kind], options);
  const opened = async (amount = money): Promise<OpenedPayment> => {
    const payment = aGatewayPayment(amount);
    const opening = await adapter().open(payment);
    if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
    const { reference } = opening;
    const readProof = findDriver(driver)?.readProof;
    if (!readProof) return { ...payment, reference };
    return {
      ...payment,
      reference,
      /** As if the payer had just come back. */
      get returnProof() {
        const fields = fieldsOf(provider.back(reference));
        return readProof(fields, { id: payment.id, reference }) ?? null;
      },
    };
  };
  return {
    provider: () => provider,
    adapter,
    adapterWith,
    opened,
    /** A payment that is paid and verified, with its number at the provider. */
    async paid(): Promise<OpenedPayment> {
      const payment = await opened();
      await provider.pay(payment.reference);
      const verified = await adapter().verify(payment);
      if (verified.state !== 'paid') throw new Error(`It is ${verified.state}`);
      return { ...payment, trackingCode: verified.trackingCode };
    },
    /** The calls that `work` makes. */
    async callsOf(work: () => Promise<unknown>): Promise<Call[]> {
      const before = provider.calls.length;
      await work();
      return provider.calls.slice(before);
    },
  };
};
