import { z } from 'zod';
import type { FieldError } from './errors.ts';
import { type JsonNode, nestingDepth } from './json.ts';

const metadataBounds = { keys: 50, keyLength: 40, bytes: 8 * 1024, depth: 5 } as const;

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
