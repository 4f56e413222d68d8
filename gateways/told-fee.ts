import { z } from 'zod';
import type { ToldFee } from '../contract/told-fee.ts';

/** A fee in an answer. A fraction, a text or a number below zero tells nothing, and spoils no answer. */
export const FeeField = z.int().nonnegative().nullish().catch(null);

/** @param paidBy undefined or another word tells nothing */
export const merchantOrPayer = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['merchant', 'payer']))
  .nullish()
  .catch(null);

/** The fee that a provider told, if it can be that of the payment. Both amounts are in minor units. */
export const toldFee = (
  amount: number | null | undefined,
  paidBy: ToldFee['paidBy'] | null | undefined,
  payment: { amount: number },
): ToldFee | undefined =>
  typeof amount === 'number' && paidBy && amount <= payment.amount ? { amount, paidBy } : undefined;
