import type { RecordedAccount } from '../../contract/gateway-account.ts';
import { refundCredentialsOwner } from '../../contract/ids.ts';
import { dayMs, minuteMs } from '../../contract/time.ts';
import type { AdapterOf } from '../../gateways/adapters.ts';
import type { Renewal } from '../../gateways/gateway.ts';
import type { Renewals } from '../../postgres/gateways/renewals.ts';
import type { SecretBox } from '../../postgres/secrets/secret-box.ts';
import { alertUnlessSandbox, type Log } from '../log.ts';
import { forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  renewals: Renewals;
  gatewayOf: AdapterOf;
  secretBox: Pick<SecretBox, 'seal' | 'open'>;
  now: () => Date;
  logger: Log;
}

/** After a renewal that failed. The alert counts the tries, so it goes on for as long as they fail. */
const retryMs = 10 * minuteMs;
/** Without an answer. An admin has this time to log in at the gateway. */
const alertBeforeEndMs = 2 * dayMs;

/** Renews the credentials for refunds at gateways where they end. */
export const createRenewalTask = ({ renewals, gatewayOf, secretBox, now, logger }: Deps) => {
  const nextTryAt = new Map<string, number>();

  /**
   * Stores the renewed credentials in place of those that were renewed. A new key may have sealed the same ones anew
   * meanwhile; but what an admin has set meanwhile stays.
   */
  const store = async ({ gateway, refundCredentials }: RecordedAccount, renewed: object) => {
    const owner = refundCredentialsOwner(gateway);
    const former = refundCredentials === null ? null : secretBox.open(refundCredentials, owner);
    const sealed = secretBox.seal(JSON.stringify(renewed), owner);
    let found = refundCredentials;
    while (found !== null && secretBox.open(found, owner) === former) {
      if (await renewals.replace(gateway, found, sealed)) return true;
      found = (await renewals.get(gateway))?.refundCredentials ?? null;
    }
    return false;
  };

  const report = ({ gateway, gatewayKind }: RecordedAccount, { endsAt, ...renewal }: Renewal) => {
    if (!('reason' in renewal)) return;
    nextTryAt.set(gateway, now().getTime() + retryMs);
    const facts = { gateway, reason: renewal.reason, ends_at: endsAt?.toISOString() ?? null };
    const leftMs = endsAt ? endsAt.getTime() - now().getTime() : 0;
    if (renewal.result === 'refused' || leftMs < alertBeforeEndMs)
      alertUnlessSandbox(logger, gatewayKind, {
        alert: 'refund_token_ends',
        message: 'The credentials for refunds could not be renewed; refunds will wait for new ones',
        facts,
      });
    else
      logger.warn(facts, 'The credentials for refunds were not renewed; a later sweep will retry');
  };

  /** @returns whether new credentials are stored */
  const renew = async (account: RecordedAccount): Promise<boolean> => {
    const renewal = await gatewayOf(account).renew?.();
    if (!renewal) return false;
    report(account, renewal);
    if (renewal.result !== 'renewed') return false;
    const isStored = await store(account, renewal.refundCredentials);
    const facts = { gateway: account.gateway };
    if (!isStored) logger.warn(facts, 'The credentials for refunds were replaced meanwhile');
    return isStored;
  };

  return {
    /** @returns how many accounts have new credentials */
    async renewRefundTokens(): Promise<number> {
      const accounts = await renewals.list();
      const due = accounts.filter(
        (account) =>
          gatewayOf(account).renew && now().getTime() >= (nextTryAt.get(account.gateway) ?? 0),
      );
      let renewed = 0;
      const limits = { atOnce: 1, until: performance.now() + taskTimeMs, logger };
      await forEachOrThrow(
        due.map(({ gateway }) => ({ id: gateway })),
        limits,
        async ({ id }) => {
          if (await renewals.alone(id, renew)) renewed += 1;
        },
      );
      return renewed;
    },
  };
};
