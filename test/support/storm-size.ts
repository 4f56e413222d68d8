import { readStackConfig } from '../../config.ts';

/**
 * How many payments the storm has, of how many payers at once: enough for every process to die in
 * the middle of some, or as many as STORM_PAYMENTS says.
 */
export const stormSize = (): { payments: number; payers: number; kills: number } => {
  const payments = Number(readStackConfig().inherited['STORM_PAYMENTS'] ?? 100);
  return { payments, payers: Math.ceil(payments / 25), kills: Math.max(10, payments / 20) };
};
