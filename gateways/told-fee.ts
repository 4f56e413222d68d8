import { z } from 'zod';
import type { ToldFee } from '../contract/told-fee.ts';

/** A fee in an answer. One that is no whole number, or below zero, tells nothing, and spoils no answer. */
export const FeeField = z.int().nonnegative().nullish().catch(null);

/** @param paidBy undefined or another word tells nothing */
export const merchantOrPayer = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['merchant', 'payer']))
  .nullish()
  .catch(null);

/** What a provider told of its fee, if that can be the fee of the payment. Both amounts are in minor units. */
export const toldFee = (
  amount: number | null | undefined,
  paidBy: ToldFee['paidBy'] | null | undefined,
  payment: { amount: number },
): ToldFee | undefined =>
  typeof amount === 'number' && paidBy && amount <= payment.amount ? { amount, paidBy } : undefined;
