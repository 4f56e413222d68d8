import type { Gateways, RankedAccount } from '../postgres/gateways/gateways.ts';
import type { PaymentWithAccount } from '../postgres/payments/outcomes.ts';

/** A gateway that an opening asks, and whether no other one is left for this try. */
export interface Candidate {
  account: RankedAccount;
  isLast: boolean;
}

type Opening = RankedAccount & Pick<PaymentWithAccount, 'candidates'>;

const failuresUntilSilence = 3;

/**
 * Keeps payers from waiting for a gateway that opens nothing: the workers share its pauses, in which it is asked after the
 * others. It is never left out. When a pause is over, one opening asks it first, and the others go on as before until
 * that one is opened.
 *
 * opossum does not fit: it decides in one process, and refuses calls.
 */
export const createBreaker = (
  gateways: Pick<Gateways, 'listRanked' | 'beginSilence' | 'endSilence'>,
) => {
  // Admins create gateways, so the map stays small.
  const failuresInARow = new Map<string, number>();

  /** Whether the gateway keeps its position. @param isFirst nobody is asked before it */
  const keepsPosition = async (
    { gateway, isSilent }: RankedAccount,
    isFirst: boolean,
  ): Promise<boolean> => {
    if (isSilent === null) return true;
    return !isSilent && (!isFirst || gateways.beginSilence(gateway));
  };

  return {
    /** The gateways that may open the payment, in the order in which a try asks them. */
    async *inTurn({ candidates, ...first }: Opening): AsyncGenerator<Candidate> {
      if (candidates === null) {
        yield { account: first, isLast: true };
        return;
      }
      const answers = first.isSilent === null;
      if (answers) yield { account: first, isLast: false };
      const others = (await gateways.listRanked(candidates)).filter(
        ({ gateway }) => !answers || gateway !== first.gateway,
      );
      const [now, later]: [RankedAccount[], RankedAccount[]] = [[], []];
      for (const account of others)
        if (await keepsPosition(account, !answers && now.length === 0)) now.push(account);
        else later.push(account);
      const ordered = [...now, ...later];
      for (const account of ordered) yield { account, isLast: account === ordered.at(-1) };
    },

    /** It has opened a payment, or said what is wrong with one. */
    async succeeded({ gateway, isSilent }: RankedAccount): Promise<void> {
      failuresInARow.delete(gateway);
      if (isSilent !== null) await gateways.endSilence(gateway);
    },

    /** It gave no answer, or refused for a reason of the account. */
    async failed({ gateway, isSilent }: RankedAccount): Promise<void> {
      const failures = (failuresInARow.get(gateway) ?? 0) + 1;
      failuresInARow.set(gateway, failures);
      if (failures >= failuresUntilSilence && isSilent !== true)
        await gateways.beginSilence(gateway);
    },
  };
};
export type Breaker = ReturnType<typeof createBreaker>;
