import { MockActivityEnvironment } from '@temporalio/testing';
import {
  createCompareAccountsActivities,
  type Deps,
} from '../../../activities/compare-accounts.ts';
import { dayMs, hourMs } from '../../../contract/time.ts';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import { createAccountComparison } from '../../../postgres/accounts/comparison.ts';
import { createAccountStatement } from '../../../postgres/accounts/statement.ts';
import { createGatewayEntries } from '../../../postgres/accounts/gateway-entries.ts';
import { createPayouts } from '../../../postgres/accounts/payouts.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { forFile } from '../for-file.ts';
import { adapterOf } from '../gateways/fixture.ts';
import { publicBaseUrl, readableLogger } from '../service/scripted-gateway.ts';
import type { Records } from './records.ts';

/** The activities that compare accounts, with real records. No workflow runs. */
export const accountActivities = (
  { sql, paymentOutcomes }: Pick<Records, 'sql' | 'paymentOutcomes'>,
  deps: Pick<Deps, 'gatewayOf'> & Partial<Deps>,
) =>
  createCompareAccountsActivities({
    accountComparison: createAccountComparison(sql),
    gatewayEntries: createGatewayEntries(sql),
    accountStatement: createAccountStatement(sql),
    payouts: createPayouts(sql),
    paymentOutcomes,
    runningWorkflows: async () => new Set(),
    publicBaseUrl,
    now: () => new Date(),
    logger: readableLogger().logger,
    ...deps,
  });

/** A fake Stripe of live payments, and adapters of its account. */
export const startLiveStripe = async () => {
  const stripe = await forFile(startStripe({ mode: 'live' }));
  const credentials = { secretKey: 'sk_live_0123456789abcdef', baseUrl: stripe.url };
  // An adapter has a limited time for all of its calls.
  const newAdapter = () => adapterOf('stripe', { kind: 'live', credentials });
  return { stripe, newAdapter, gateway: `stripe-${new URL(stripe.url).port}` };
};

/** A live account since the beginning of a day, which is compared in the night after each of its days. */
export const anAccountOf = async (
  records: Records,
  {
    gateway,
    newAdapter,
    ...account
  }: {
    gateway: string;
    driver?: string;
    newAdapter: () => GatewayAdapter;
    since?: string;
    zone?: { name: string; offset: string };
  },
) => {
  const { driver = 'stripe', since = '2026-11-01', zone = { name: 'UTC', offset: 'Z' } } = account;
  const begins = (day: string) => new Date(`${day}T00:00:00${zone.offset}`);
  await records.addGateway(driver, { slug: gateway });
  await records.sql`
    update gateways set created_at = ${begins(since)}, time_zone = ${zone.name} where slug = ${gateway}`;
  let now = new Date();
  const { logger, warnings } = readableLogger();
  const { listBook, finishDay } = accountActivities(records, {
    gatewayOf: newAdapter,
    now: () => now,
    logger,
  });
  const run = <R>(work: () => Promise<R>): Promise<R> => new MockActivityEnvironment().run(work);
  return {
    warnings,
    /** @param later when the comparison runs, after the day is over */
    async compare(day: string, later = 2 * hourMs) {
      now = new Date(begins(day).getTime() + dayMs + later);
      let hasList: boolean;
      let after: string | null = null;
      do ({ hasList, next: after } = await run(() => listBook({ gateway, day, after })));
      while (after !== null);
      await run(() => finishDay({ gateway, day, hasList }));
    },
  };
};
