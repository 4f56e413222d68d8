import { z } from 'zod';
import type { FieldError } from './errors.ts';
import type { JsonNode } from './json.ts';
import { nestingDepth } from './json.ts';
import { amountBounds, currencyExponents } from './money.ts';
import { SandboxPlan } from './sandbox-plan.ts';

/** Characters are Unicode code points, as in JSON Schema. */
export const lengthBetween = ({ min, max }: { min: number; max: number }) =>
  z
    .string({ error: 'must be a string' })
    .refine((value) => [...value].length >= min && [...value].length <= max, {
      error:
        min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`,
      params: { rule: 'length' },
    })
    .meta({ minLength: min, maxLength: max });

export const integerBetween = ({ min, max }: { min: number; max: number }) => {
  const error = `must be an integer from ${min} to ${max}, written without fraction or exponent`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const metadataBounds = { keys: 50, keyLength: 40, bytes: 8 * 1024, depth: 5 } as const;
const expiresInBounds = { min: 60, max: 86_400, default: 1_800 } as const;

/** {@link metadataProblems} checks the rest. */
export const metadataSchema = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .optional()
  .meta({
    maxProperties: metadataBounds.keys,
    propertyNames: { maxLength: metadataBounds.keyLength },
    description:
      `Stored and returned as it was sent. At most ${metadataBounds.bytes} bytes as sent, ` +
      `nested at most ${metadataBounds.depth} levels deep.`,
  });

const plainInteger = 'Written as a plain integer, without fraction or exponent.';

export const addedToCallback =
  'The service adds `payment_id`, `order_id` and `status` to its query.';

export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/)
  .meta({ description: '1 to 255 printable ASCII characters, sent once.' });

/** The body of a create. Unknown fields are rejected. */
export const CreatePayment = z
  .strictObject(
    {
      order_id: lengthBetween({ min: 1, max: 100 }).meta({
        description:
          "The application's own order reference. Several payments may have the same one.",
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
          "Slug of an enabled gateway; by default the application's. A test token may use only sandbox gateways.",
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
      sandbox: SandboxPlan.optional(),
    },
    { error: 'must be an object' },
  )
  .meta({ id: 'CreatePayment' });
export type CreatePayment = z.infer<typeof CreatePayment>;

/** The fields that gateways have bounds for. They are checked even if the rest of the body is invalid. */
export const PaymentTerms = CreatePayment.pick({
  amount: true,
  currency: true,
  expires_in: true,
}).strip();
export type PaymentTerms = z.infer<typeof PaymentTerms>;

/** Checks metadata by the rules that a schema cannot express: they concern the text as it was sent. */
export const metadataProblems = (metadata: JsonNode): FieldError[] => {
  if (metadata.kind !== 'object') return [];
  const keys = [...metadata.members.keys()];
  const rules: [isBroken: boolean, rule: string, message: string][] = [
    [keys.length > metadataBounds.keys, 'keys', `must have at most ${metadataBounds.keys} keys`],
    [
      keys.some((key) => [...key].length > metadataBounds.keyLength),
      'key_length',
      `must have keys of at most ${metadataBounds.keyLength} characters`,
    ],
    [
      Buffer.byteLength(metadata.text) > metadataBounds.bytes,
      'bytes',
      `must have at most ${metadataBounds.bytes} bytes as sent`,
    ],
    [
      nestingDepth(metadata) > metadataBounds.depth,
      'depth',
      `must be nested at most ${metadataBounds.depth} levels deep`,
    ],
  ];
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, rule, message]) => ({ path: 'metadata', rule, message }));
};

/** The problems that zod found, one for each field and rule. */
export const fieldErrors = (error: z.ZodError): FieldError[] =>
  error.issues.flatMap((issue): FieldError[] => {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: path === '' ? key : `${path}.${key}`,
        rule: 'unknown_field',
        message: 'is not a known field',
      }));
    const rule: unknown = issue.code === 'custom' ? issue.params?.['rule'] : issue.code;
    return [{ path, rule: String(rule), message: issue.message }];
  });
