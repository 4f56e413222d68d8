import type { Caller, Tokens } from '../../postgres/tokens.ts';

interface Waiting {
  resolve: (caller: Caller | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Requests of one token that come while its statement runs share the next one: they all count in
 * one row, where they would only wait for each other. Each is judged by a statement that began after
 * it came, so a revocation holds for the very next request all the same.
 */
export const shareAuthentication = ({
  authenticate,
}: Pick<Tokens, 'authenticate'>): Pick<Tokens, 'authenticate'> => {
  /** Who waits for the next statement; a token is here while one of its own runs. */
  const queues = new Map<string, Waiting[]>();

  /** In a loop: calls that await the next one would all be kept for as long as requests keep coming. */
  const run = async (token: string, first: Waiting): Promise<void> => {
    for (let batch = [first]; batch.length > 0; batch = queues.get(token) ?? []) {
      queues.set(token, []);
      try {
        const caller = await authenticate(token, batch.length);
        for (const [index, { resolve }] of batch.entries())
          resolve(caller && { ...caller, budget: countedBefore(caller, batch.length - 1 - index) });
      } catch (error) {
        // Who waits would only fail later: Postgres is away for them as well.
        for (const { reject } of [...batch, ...(queues.get(token) ?? [])]) reject(error);
        break;
      }
    }
    queues.delete(token);
  };

  return {
    authenticate: (token) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(token);
        if (queue) queue.push({ resolve, reject });
        else void run(token, { resolve, reject });
      }),
  };
};

const countedBefore = ({ budget, disabled }: Caller, others: number): Caller['budget'] => ({
  ...budget,
  used: disabled ? budget.used : Math.max(0, budget.used - others),
});
