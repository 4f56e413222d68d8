import { z } from 'zod';
import { movementIdPattern } from './ids.ts';
import { type MovementField, movementKinds } from './movement.ts';
import { PaymentResponse } from './payment-responses.ts';
import { RefundId } from './refund-responses.ts';
import { listOf, openEnum, paginationFields, time } from './response-fields.ts';

const payment = PaymentResponse.shape;

const day = z.iso.date();

/** A schema for each field of the list in movement.ts; a missing or unknown one does not compile. */
const movementSchemas = {
  movement_id: z
    .string()
    .regex(movementIdPattern)
    .meta({
      description: 'The id of a movement.',
      examples: ['payment:PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
    }),
  kind: openEnum(movementKinds).meta({
    description:
      '`refund_elsewhere`: somebody gave the money back outside of the gateway. `refund_returned`: the bank of the ' +
      'payer sent the money of a refund back. `late_payment`: money that came after the payment had ended without it. ' +
      '`late_reversal`: it went back. `fee`: what the gateway kept, or gave back of it. `chargeback`: a dispute, a debit that the bank of the ' +
      'payer took back, or the reversal of one. ' +
      'New kinds may appear.',
  }),
  payment_id: payment.payment_id,
  refund_id: RefundId.nullable().meta({ description: 'Null unless it is of a refund.' }),
  application: payment.application,
  order_id: payment.order_id,
  gateway: z.string().meta({ description: 'Slug of the gateway whose account it is.' }),
  reference: z
    .string()
    .nullable()
    .meta({ description: "The gateway's own id of the payment, the refund, or the fee." }),
  amount: z.int().meta({
    description: 'In minor units of the currency; negative for money that leaves the account.',
  }),
  currency: payment.currency,
  test: payment.test,
  day: day.meta({
    description: "The day of the account, in the account's time zone, to which it belongs.",
  }),
  earlier_day: day.nullable().meta({
    description:
      'The day on which it happened, if that is an earlier one: a closed day gets no more movements. Null otherwise.',
  }),
  occurred_at: time('When the money moved, or the service learned of it.'),
  recorded_at: time('When the movement was recorded. The list has its order.'),
} satisfies Record<MovementField, z.ZodType>;

/** A movement in a response. `presentMovement` writes it. */
export const MovementResponse = z.strictObject(movementSchemas).meta({ id: 'Movement' });
export type MovementResponse = z.infer<typeof MovementResponse>;

/** A list of movements, newest first. */
export const MovementListResponse = listOf('Movement', MovementResponse, paginationFields());
export type MovementListResponse = z.infer<typeof MovementListResponse>;
