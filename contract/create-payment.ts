import { z } from 'zod';
import type { FieldError } from './errors.ts';
import type { JsonNode } from './json.ts';
import { nestingDepth } from './json.ts';
import { amountBounds, currencyExponents } from './money.ts';

/** Characters are Unicode code points, as in JSON Schema. */
const text = ({ min, max }: { min: number; max: number }) =>
  z
    .string({ error: 'must be a string' })
    .refine((value) => [...value].length >= min && [...value].length <= max, {
      error:
        min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`,
      params: { rule: 'length' },
    })
    .meta({ minLength: min, maxLength: max });

const integer = ({ min, max }: { min: number; max: number }) => {
  const error = `must be an integer from ${min} to ${max}, written without fraction or exponent`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const metadataBounds = { keys: 50, keyLength: 40, bytes: 8 * 1024, depth: 5 } as const;
const expiresInBounds = { min: 60, max: 86_400, default: 1_800 } as const;

const plain = 'Written as a plain integer, without fraction or exponent.';

export const addedToCallback = 'To its query `payment_id`, `order_id` and `status` are added.';

export const IdempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/)
  .meta({ description: '1 to 255 printable ASCII characters; given once.' });

/** The body of a create, contract section 3; unknown fields are refused. */
export const CreatePayment = z
  .strictObject(
    {
      order_id: text({ min: 1, max: 100 }).meta({
        description: "The application's own order reference; several payments may have the same.",
      }),
      amount: integer(amountBounds).meta({
        description:
          `In minor units of the currency, e.g. cents; IRR in whole rials. ${plain} The gateway may ` +
          'take less, which is refused by the rule `gateway_bounds`, or whole multiples alone: `gateway_step`.',
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
            'ISO 4217 code. The gateway may take fewer; another is refused by the rule `gateway_currency`.',
        }),
      callback_url: z
        .string({ error: 'must be a string' })
        .optional()
        .meta({
          description:
            'Where the payer comes back to: equal to one of the registered callback URLs, the first by ' +
            `default. ${addedToCallback}`,
        }),
      gateway: z.string({ error: 'must be a string' }).optional().meta({
        description:
          "Slug of an enabled gateway, by default the application's. A test token may use sandbox gateways only.",
      }),
      description: text({ min: 0, max: 255 })
        .optional()
        .meta({ description: 'Shown to the payer at the gateway.' }),
      metadata: z
        .record(z.string(), z.unknown(), { error: 'must be an object' })
        .optional()
        .meta({
          maxProperties: metadataBounds.keys,
          propertyNames: { maxLength: metadataBounds.keyLength },
          description:
            `Kept and returned as it was sent. At most ${metadataBounds.bytes} bytes as sent, ` +
            `nested at most ${metadataBounds.depth} levels deep.`,
        }),
      expires_in: integer(expiresInBounds)
        .default(expiresInBounds.default)
        .meta({
          description: `Seconds the payer has to pay. ${plain} The gateway may take less: \`gateway_bounds\`.`,
        }),
    },
    { error: 'must be an object' },
  )
  .meta({ id: 'CreatePayment' });
export type CreatePayment = z.infer<typeof CreatePayment>;

/** What a gateway has bounds for: judged also where the rest of the body is wrong. */
export const PaymentTerms = CreatePayment.pick({
  amount: true,
  currency: true,
  expires_in: true,
}).strip();
export type PaymentTerms = z.infer<typeof PaymentTerms>;

/** What JSON Schema cannot say of metadata, whose text is kept as it was sent. */
export const metadataProblems = (metadata: JsonNode): FieldError[] => {
  if (metadata.kind !== 'object') return [];
  const keys = [...metadata.members.keys()];
  const problems: [boolean, string, string][] = [
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
  return problems
    .filter(([wrong]) => wrong)
    .map(([, rule, message]) => ({ path: 'metadata', rule, message }));
};

/** All of a schema's complaints, one for each field and rule. */
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
