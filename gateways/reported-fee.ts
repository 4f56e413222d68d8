import { z } from 'zod';
import type { ReportedFee } from '../contract/reported-fee.ts';

/** A fee in an answer. A fraction, a text or a number below zero tells nothing, and spoils no answer. */
export const FeeField = z.int().nonnegative().nullish().catch(null);

/** @param paidBy undefined or another word tells nothing */
export const merchantOrPayer = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['merchant', 'payer']))
  .nullish()
  .catch(null);

/** The fee that a provider reported, if it can be that of the payment. Both amounts are in minor units. */
export const reportedFee = (
  amount: number | null | undefined,
  paidBy: ReportedFee['paidBy'] | null | undefined,
  payment: { amount: number },
): ReportedFee | undefined =>
  typeof amount === 'number' && paidBy && amount <= payment.amount ? { amount, paidBy } : undefined;
