import { printParseErrorCode, visit } from 'jsonc-parser';
import { limits } from './limits.ts';

/**
 * A JSON value together with the text it was written as. `JSON.parse` loses the order of integer-like keys,
 * number literals and duplicate keys, but the API returns metadata exactly as it was sent.
 */
export type JsonNode =
  | { kind: 'object'; text: string; members: ReadonlyMap<string, JsonNode> }
  | { kind: 'array'; text: string; items: readonly JsonNode[] }
  | { kind: 'string'; text: string; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'literal'; text: string; value: boolean | null };

/** An object without a member. */
export const nothing: JsonNode = { kind: 'object', text: '{}', members: new Map() };

/** The text is not acceptable JSON. The message says what is wrong and where, without quoting the text. */
export class JsonError extends Error {}

/** An object or array whose end has not been read yet. */
type OpenNode =
  | { kind: 'object'; start: number; members: Map<string, JsonNode>; key: string }
  | { kind: 'array'; start: number; items: JsonNode[] };

const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/**
 * Parses strict JSON. The callbacks throw at the first error, so the parser stops there, and deep nesting
 * cannot exhaust the stack.
 * @throws JsonError also for a duplicate key, NUL or a lone surrogate in a string, and over 32 levels
 */
export const parseJson = (text: string): JsonNode => {
  const open: OpenNode[] = [];
  let root: JsonNode | undefined;

  const fail = (problem: string, offset: number): never => {
    throw new JsonError(`${problem} at character ${offset + 1}`);
  };
  const checkString = (value: string, offset: number) => {
    if (value.includes('\0')) fail('NUL in a string', offset);
    if (!value.isWellFormed()) fail('lone surrogate in a string', offset);
  };
  const begin = (node: OpenNode) => {
    if (open.length === limits.jsonDepth) fail(`more than ${limits.jsonDepth} levels`, node.start);
    open.push(node);
  };
  const add = (node: JsonNode) => {
    const parent = open.at(-1);
    if (!parent) root = node;
    else if (parent.kind === 'array') parent.items.push(node);
    else parent.members.set(parent.key, node);
  };
  const end = (offset: number) => {
    const node = open.pop();
    if (!node) return;
    const written = text.slice(node.start, offset + 1);
    if (node.kind === 'array') add({ kind: 'array', text: written, items: node.items });
    else add({ kind: 'object', text: written, members: node.members });
  };

  visit(
    text,
    {
      onObjectBegin: (start) => begin({ kind: 'object', start, members: new Map(), key: '' }),
      onObjectProperty(key, offset) {
        checkString(key, offset);
        const object = open.at(-1);
        if (object?.kind !== 'object') return;
        if (object.members.has(key)) fail('duplicate key', offset);
        object.key = key;
      },
      onObjectEnd: end,
      onArrayBegin: (start) => begin({ kind: 'array', start, items: [] }),
      onArrayEnd: end,
      onLiteralValue(value: string | number | boolean | null, offset, length) {
        const written = text.slice(offset, offset + length);
        if (typeof value === 'string') {
          checkString(value, offset);
          add({ kind: 'string', text: written, value });
        } else if (typeof value === 'number') add({ kind: 'number', text: written });
        else add({ kind: 'literal', text: written, value });
      },
      onError: (code, offset) => fail(describeError(printParseErrorCode(code)), offset),
    },
    strict,
  );
  return root ?? fail('value expected', 0);
};

/** `ColonExpected` becomes `colon expected`. */
const describeError = (name: string) => name.replace(/\B[A-Z]/g, ' $&').toLowerCase();

const plainInteger = /^(?:0|-?[1-9]\d*)$/;

/**
 * Converts a node to a plain value for a schema to check. A number becomes NaN, which every schema
 * rejects, unless it is written as a plain integer that JavaScript can hold exactly.
 */
export const toPlainValue = (node: JsonNode): unknown => {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(
        [...node.members].map(([key, member]) => [key, toPlainValue(member)]),
      );
    case 'array':
      return node.items.map(toPlainValue);
    case 'number':
      return plainInteger.test(node.text) && Number.isSafeInteger(Number(node.text))
        ? Number(node.text)
        : NaN;
    case 'string':
    case 'literal':
      return node.value;
  }
};

/** The same text for all documents that differ only in the order of keys, white space and escapes. */
export const canonicalText = (node: JsonNode): string => {
  switch (node.kind) {
    case 'object':
      return `{${[...node.members]
        .map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`)
        .sort()
        .join()}}`;
    case 'array':
      return `[${node.items.map(canonicalText).join()}]`;
    case 'string':
      return JSON.stringify(node.value);
    case 'number':
    case 'literal':
      return node.text;
  }
};

/** Counts the levels of objects and arrays: 1 for `{}` and `{"a":1}`, 0 for a string. */
export const nestingDepth = (node: JsonNode): number => {
  if (node.kind !== 'object' && node.kind !== 'array') return 0;
  const inner = node.kind === 'object' ? [...node.members.values()] : node.items;
  return 1 + Math.max(0, ...inner.map(nestingDepth));
};
