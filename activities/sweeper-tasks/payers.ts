import type { Payers } from '../../postgres/payments/payers.ts';

export interface Deps {
  payers: Pick<Payers, 'eraseOld'>;
}

const batchSize = 5_000;

export const createPayerTask = ({ payers }: Deps) => ({
  /** @returns how many payers it erased: those whose payment nobody has opened or ended in time */
  eraseOldPayers: () => payers.eraseOld(batchSize),
});
