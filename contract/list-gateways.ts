import { z } from 'zod';
import { CreatePayment } from './create-payment.ts';
import { gatewayKinds } from './gateway-account.ts';
import { amountBounds } from './money.ts';
import { asInteger } from './list.ts';

/** The query of the list of gateways. */
export const ListGateways = z.object({
  currency: CreatePayment.shape.currency.optional().meta({
    description:
      'The list has the gateways that take this currency, each with its terms for this currency alone.',
  }),
  amount: z
    .string()
    .regex(/^[1-9]\d{0,11}$/, { error: `must be an integer from 1 to ${amountBounds.max}` })
    .transform(Number)
    .optional()
    .meta({
      override: asInteger({ maximum: amountBounds.max, format: 'int64' }),
      description:
        'The list has the gateways that take this amount, in minor units, in one of the listed currencies.',
    }),
});
export type ListGateways = z.output<typeof ListGateways>;

/** A gateway that takes new payments of the token's mode. */
export const GatewayResponse = z
  .strictObject({
    slug: z.string().meta({ description: 'For `gateway` and `gateways` of a create.' }),
    kind: z.enum(gatewayKinds),
    position: z.int().min(1).nullable().meta({
      description:
        "1 for the application's default gateway, then its fallback gateways in the order of asking. Null: only a create that names it uses it.",
    }),
    currencies: z.array(
      z.strictObject({
        currency: z.string().meta({ description: 'ISO 4217 code.' }),
        min: z.int().meta({ description: 'The least amount, in minor units.' }),
        max: z.int().meta({ description: 'The largest amount, in minor units.' }),
        step: z.int().meta({ description: 'Amounts are whole multiples of it.' }),
      }),
    ),
    expires_in: z
      .strictObject({ min: z.int(), max: z.int() })
      .meta({ description: 'The bounds of `expires_in` of a create, in seconds.' }),
    refunds: z
      .strictObject({
        partial: z.boolean().meta({ description: 'False: the whole amount only.' }),
        least: z.int().meta({ description: 'The least amount of a refund, in minor units.' }),
      })
      .nullable()
      .meta({ description: 'Null: the account gives no money back through this service.' }),
    answers: z.boolean().meta({
      description:
        'False while the gateway opens no payments: its last openings failed in a row. It is then asked after the others, for 30 seconds to 5 minutes.',
    }),
  })
  .meta({ id: 'Gateway' });
export type GatewayResponse = z.infer<typeof GatewayResponse>;

/** All gateways that an application may use now, its own first. */
export const GatewayListResponse = z
  .strictObject({ data: z.array(GatewayResponse) })
  .meta({ id: 'GatewayList' });
export type GatewayListResponse = z.infer<typeof GatewayListResponse>;
