import type { IdempotencyKeys } from '../../postgres/payments/idempotency-keys.ts';
import { taskTimeMs } from './limited.ts';

export interface Deps {
  idempotencyKeys: Pick<IdempotencyKeys, 'deleteExpired'>;
}

const batchSize = 5_000;

export const createIdempotencyKeyTask = ({ idempotencyKeys }: Deps) => ({
  /** @returns how many keys it deleted */
  async deleteExpiredIdempotencyKeys(): Promise<number> {
    const until = performance.now() + taskTimeMs;
    let deleted = 0;
    while (performance.now() < until) {
      const count = await idempotencyKeys.deleteExpired(batchSize);
      deleted += count;
      if (count < batchSize) break;
    }
    return deleted;
  },
});
