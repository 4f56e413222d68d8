import { afterAll, beforeAll } from 'vitest';
import type { GatewayAdapter, OpenedPayment } from '../../../gateways/gateway.ts';
import type { Subject } from './subject.ts';
import { adapterOf, aPayment } from './subject.ts';
import type { Call, Provider } from '../../fakes/server.ts';

/** One provider for a test file, and an account there: what only this provider does is tested so. */
export const aProvider = <P extends Provider>(
  subject: Subject<P>,
  kind: 'sandbox' | 'live' = 'sandbox',
) => {
  let provider: P;
  beforeAll(async () => {
    provider = await subject.start(kind);
  });
  afterAll(() => provider.stop());
  const adapter = (now?: () => Date): GatewayAdapter =>
    adapterOf(
      subject.driver,
      { kind, credentials: { ...subject.credentials[kind], baseUrl: provider.url } },
      now && { now },
    );
  return {
    provider: () => provider,
    adapter,
    async opened(): Promise<OpenedPayment> {
      const payment = aPayment(subject.money);
      const opening = await adapter().open(payment);
      if (opening.result !== 'opened') throw new Error(`${opening.code}: ${opening.message}`);
      return { ...payment, reference: opening.reference };
    },
    /** The calls that something made. */
    async callsOf(work: () => Promise<unknown>): Promise<Call[]> {
      const before = provider.calls.length;
      await work();
      return provider.calls.slice(before);
    },
  };
};
