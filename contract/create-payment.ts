import { z } from 'zod';
import { metadataSchema } from './metadata.ts';
import { amountBounds, currencyExponents } from './money.ts';
import { Payer } from './payer.ts';
import { integerBetween, lengthBetween, requestObject } from './request-fields.ts';
import { SandboxPlan } from './sandbox-plan.ts';

const expiresInBounds = { min: 60, max: 86_400, default: 1_800 } as const;

export const mostGateways = 5;

const plainInteger = 'Written as a plain integer, without fraction or exponent.';

export const addedToCallback =
  'The service adds `payment_id`, `order_id` and `status` to its query.';

/** The body of a create. Unknown fields are rejected. */
export const CreatePayment = requestObject({
  order_id: lengthBetween({ min: 1, max: 100 }).meta({
    description: "The application's own order reference. Several payments may have the same one.",
  }),
  amount: integerBetween(amountBounds).meta({
    description:
      `In minor units of the currency, e.g. cents; IRR in whole rials. ${plainInteger} The gateway may ` +
      'accept less (rule `gateway_bounds`) or only whole multiples (rule `gateway_step`).',
  }),
  currency: z
    .string({ error: 'must be a string' })
    .refine((code) => currencyExponents.has(code), {
      error: 'must be an ISO 4217 currency code in capitals',
      params: { rule: 'currency' },
    })
    .meta({
      enum: [...currencyExponents.keys()],
      description:
        'ISO 4217 code. The gateway may accept fewer currencies (rule `gateway_currency`).',
    }),
  callback_url: z
    .string({ error: 'must be a string' })
    .optional()
    .meta({
      description:
        "The payer's browser returns here. Must equal one of the registered callback URLs; the first is " +
        `the default. ${addedToCallback}`,
    }),
  gateway: z.string({ error: 'must be a string' }).optional().meta({
    description:
      "Slug of an enabled gateway, the only one that is asked; by default the application's. A test token may use only sandbox gateways.",
  }),
  gateways: z
    .array(z.string({ error: 'must be a string' }), { error: 'must be an array of slugs' })
    .refine((slugs) => slugs.length >= 1 && slugs.length <= mostGateways, {
      error: `must have 1 to ${mostGateways} gateways`,
      params: { rule: 'length' },
    })
    .refine((slugs) => new Set(slugs).size === slugs.length, {
      error: 'must name each gateway once',
      params: { rule: 'repeated' },
    })
    .optional()
    .meta({
      minItems: 1,
      maxItems: mostGateways,
      uniqueItems: true,
      description:
        'Slugs of gateways that may take the payment, instead of `gateway`. They are asked in this order until one opens the ' +
        'payment, which stays there. Gateways that are disabled or do not take its amount, currency or time are left out; ' +
        'if none is left, the create is rejected with the reasons of each. All are live, or all are sandboxes (rule ' +
        "`kind`). By default the application's list.",
    }),
  description: lengthBetween({ min: 0, max: 255 })
    .optional()
    .meta({ description: 'Shown to the payer at the gateway.' }),
  metadata: metadataSchema,
  expires_in: integerBetween(expiresInBounds)
    .default(expiresInBounds.default)
    .meta({
      description: `Seconds that the payer has to pay. ${plainInteger} The gateway may accept less (rule \`gateway_bounds\`).`,
    }),
  payer: Payer.optional(),
  sandbox: SandboxPlan.optional(),
}).meta({ id: 'CreatePayment' });
export type CreatePayment = z.infer<typeof CreatePayment>;

/** The fields that gateways have bounds for. They are checked even if the rest of the body is invalid. */
export const PaymentTerms = CreatePayment.pick({
  amount: true,
  currency: true,
  expires_in: true,
}).strip();
export type PaymentTerms = z.infer<typeof PaymentTerms>;

/** The gateways of a create, whatever is wrong with the rest of its body. */
export const NamedGateways = CreatePayment.pick({ gateways: true }).strip();
