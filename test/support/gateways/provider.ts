import { afterAll, beforeAll } from 'vitest';
import type { GatewayAdapter, OpenedPayment } from '../../../gateways/gateway.ts';
import { adapterOf, aGatewayPayment, type ProviderFixture } from './fixture.ts';
import type { Call, Provider } from '../../fakes/server.ts';

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
  const adapter = (now?: () => Date): GatewayAdapter =>
    adapterOf(
      fixture.driver,
      { kind, credentials: { ...fixture.credentials[kind], baseUrl: provider.url } },
      now && { now },
    );
  return {
    provider: () => provider,
    adapter,
    async opened(): Promise<OpenedPayment> {
      const payment = aGatewayPayment(fixture.money);
      const opening = await adapter().open(payment);
      if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
      return { ...payment, reference: opening.reference };
    },
    /** The calls that `work` makes. */
    async callsOf(work: () => Promise<unknown>): Promise<Call[]> {
      const before = provider.calls.length;
      await work();
      return provider.calls.slice(before);
    },
  };
};
