import { z } from 'zod';
import type { FieldError, PaymentError } from '../../contract/errors.ts';
import { type JsonNode, nothing, toPlainValue } from '../../contract/json.ts';
import type { Refuse } from './route.ts';

export const invalidMessage = (part: 'body' | 'query'): string =>
  `The ${part} is not valid, see details.fields.`;

/** A problem for documentation: the amount is 0. */
export const amountExample: FieldError = {
  path: 'amount',
  rule: 'too_small',
  message: 'must be an integer from 1 to 999999999999, written without fraction or exponent',
};

/** Makes the error for a body with these problems. */
export const invalidBody = (
  refuse: Refuse<'VALIDATION_FAILED'>,
  fields: readonly FieldError[],
): PaymentError => refuse('VALIDATION_FAILED', invalidMessage('body'), { details: { fields } });

/**
 * Reads what other languages' clients send for nothing: `null` as an optional field that is absent, and `[]` as `{}`,
 * since PHP writes both alike. An object inside is read likewise.
 * @param options.except fields whose absence means something, so that `null` may be a mistake
 */
export const asFields = (
  schema: z.ZodObject,
  body: JsonNode,
  { except = [] }: { except?: readonly string[] } = {},
): JsonNode => {
  if (isEmptyList(body)) return nothing;
  if (body.kind !== 'object') return body;
  const members = [...body.members].flatMap(([name, value]): [string, JsonNode][] => {
    // A name like `constructor` is none of its own.
    const field = Object.hasOwn(schema.shape, name)
      ? (schema.shape[name] as z.ZodType | undefined)
      : undefined;
    const mayBeNull = field?.safeParse(undefined).success && !except.includes(name);
    if (value.text === 'null' && mayBeNull) return [];
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    if (inner instanceof z.ZodObject && value.kind === 'object')
      return [[name, asFields(inner, value)]];
    return [[name, isEmptyList(value) && field?.safeParse({}).success ? nothing : value]];
  });
  return { ...body, members: new Map(members) };
};

const isEmptyList = (node: JsonNode): boolean => node.kind === 'array' && node.items.length === 0;

/** A value in the place of a name is not repeated: it may be personal. */
const isName = (key: string): boolean =>
  /^[a-z_][\w[\]-]{0,63}$/i.test(key) && !/\d{7}|^(?:svc|whsec)_/i.test(key);

/** The problems that zod found, one for each field and rule. */
export const fieldErrors = (error: z.ZodError): FieldError[] =>
  error.issues.flatMap((issue): FieldError[] => {
    const path = issue.path.join('.');
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: [path, isName(key) ? key : ''].filter((part) => part !== '').join('.'),
        rule: 'unknown_field',
        message: 'is not a known field',
      }));
    const rule: unknown = issue.code === 'custom' ? issue.params?.['rule'] : issue.code;
    return [{ path, rule: String(rule), message: issue.message }];
  });

/** Parses a body by its schema. @throws PaymentError VALIDATION_FAILED with every problem at once */
export const parseBody = <Schema extends z.ZodObject>(
  schema: Schema,
  body: JsonNode,
  refuse: Refuse<'VALIDATION_FAILED'>,
): z.output<Schema> => {
  const parsed = schema.safeParse(toPlainValue(asFields(schema, body)));
  if (parsed.success) return parsed.data;
  throw invalidBody(refuse, fieldErrors(parsed.error));
};
