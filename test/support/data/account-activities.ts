import {
  createCompareAccountsActivities,
  type Deps,
} from '../../../activities/compare-accounts.ts';
import { createAccountComparison } from '../../../postgres/account-comparison.ts';
import { createAccountStatement } from '../../../postgres/account-statement.ts';
import { createGatewayEntries } from '../../../postgres/gateway-entries.ts';
import { createPayouts } from '../../../postgres/payouts.ts';
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
