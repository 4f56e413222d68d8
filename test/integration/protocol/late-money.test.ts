import { lateMoney, type LateMoney } from '../../../protocol/late-money.ts';
import { startLateRecords } from '../../support/data/late-payment-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import {
  createLateMoneyDriver,
  type LateMoneyFault,
} from '../../support/protocol/late-money-driver.ts';

const records = await forFile(startLateRecords());
const driverWith = (restores: boolean) => (start: LateMoney, fault?: LateMoneyFault) =>
  createLateMoneyDriver(records, start, { restores, fault });

/** An activity gets as its input, when it begins, whether it is the last. */
const mayStep = (step: string, s: LateMoney) =>
  !(step === 'a day has passed' && (s.a_at !== 'idle' || s.b_at !== 'idle'));

const faults: Record<string, LateMoneyFault> = {
  'reversed again at once': ({ beginReversal }) => ({
    beginReversal: (id, limits) => beginReversal(id, { ...limits, lastBefore: limits.now }),
  }),
  'a reversal is not counted before its call': () => ({ beginReversal: async () => true }),
  'found counts as resolved': ({ get }) => ({
    get: async (id) => {
      const found = await get(id);
      return found && { ...found, result: found.result ?? 'reversed' };
    },
  }),
  'found money is not recorded': ({ record }) => ({
    record: async (id, change) => change.result !== null && record(id, change),
  }),
};

checkTraces(lateMoney(), { mayStep, createDriver: driverWith(false), faults });
checkTraces(lateMoney({ restores: true }), { mayStep, createDriver: driverWith(true) });
