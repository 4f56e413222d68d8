import type { Queries } from '../driver/sql.ts';
import type { ResealedSetting } from './secret-box.ts';
import { isActive } from './webhook-secrets.ts';

export interface SealingKey {
  setting: ResealedSetting;
  keyId: string;
  /** The number of secrets that it has sealed. Retired webhook secrets do not count: nobody opens them again. */
  seals: number;
}

/** The keys that have sealed something which is still opened. */
export const listSealingKeys = async (sql: Queries): Promise<SealingKey[]> =>
  sql<SealingKey[]>`
    select setting, key_id as "keyId", count(*)::int as seals
    from (
      select 'WEBHOOKS_KEY' as setting, key_id from webhook_secrets where ${isActive(sql)}
      union all
      select 'SECRETS_KEY', split_part(credentials, '.', 2) from gateways
      where credentials is not null
      union all
      select 'SECRETS_KEY', split_part(refund_credentials, '.', 2) from gateways
      where refund_credentials is not null
      union all
      select 'NOTIFICATIONS_KEY', split_part(notification_secrets, '.', 2) from gateways
      where notification_secrets is not null
    ) as sealed
    group by setting, key_id
    order by setting desc, key_id`;
