/**
 * JSON as it was written. `JSON.parse` loses what the contract keeps (key order of integer-like
 * keys, number literals, duplicate keys), so bodies are scanned once into nodes that know their text.
 */
export type JsonNode =
  | { kind: 'object'; text: string; members: ReadonlyMap<string, JsonNode> }
  | { kind: 'array'; text: string; items: readonly JsonNode[] }
  | { kind: 'string'; text: string; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'literal'; text: string; value: boolean | null };

/** The text is not acceptable JSON; the message says what and where, without quoting the text. */
export class JsonError extends Error {}

const maxDepth = 32;
const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainInteger = /^(?:0|-?[1-9]\d*)$/;
const literals = { true: true, false: false, null: null } as const;

// oxlint-disable-next-line no-control-regex -- They are what must not stand in a string.
const needsParsing = /[\\\0-\x1f]/;

/** Most strings are a part of the text as they stand, and need no memory of their own. */
const unquoted = (written: string): string =>
  needsParsing.test(written)
    ? (JSON.parse(written) as string) // A string literal parses to a string.
    : written.slice(1, -1);

/** @throws JsonError also for a duplicate key, NUL or a lone surrogate in a string, and depth over 32. */
export const scanJson = (text: string): JsonNode => {
  let at = 0;

  const fail = (what: string): never => {
    throw new JsonError(`${what} at character ${at + 1}`);
  };
  const skipSpace = () => {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  };
  /** Whether `mark` comes next; takes it, and the space before it. */
  const take = (mark: string): boolean => {
    skipSpace();
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };

  const scanString = (): JsonNode & { kind: 'string' } => {
    const start = at;
    if (text[at] !== '"') fail('Expected a string');
    for (at += 1; text[at] !== '"'; at += text[at] === '\\' ? 2 : 1)
      if (at >= text.length) fail('Unterminated string');
    at += 1;
    const written = text.slice(start, at);
    let value: string;
    try {
      value = unquoted(written);
    } catch {
      at = start;
      return fail('Invalid string');
    }
    if (value.includes('\0'))
      fail('A string holds the NUL character, which is not accepted, before');
    if (!value.isWellFormed())
      fail('A string holds a lone surrogate, which is not accepted, before');
    return { kind: 'string', text: written, value };
  };

  const scanObject = (depth: number): JsonNode => {
    const start = at;
    const members = new Map<string, JsonNode>();
    take('{');
    if (!take('}')) {
      do {
        skipSpace();
        const key = scanString().value;
        if (members.has(key)) fail('An object has the same key twice, the second time before');
        if (!take(':')) fail('Expected ":"');
        members.set(key, scanValue(depth + 1));
      } while (take(','));
      if (!take('}')) fail('Expected "," or "}"');
    }
    return { kind: 'object', text: text.slice(start, at), members };
  };

  const scanArray = (depth: number): JsonNode => {
    const start = at;
    const items: JsonNode[] = [];
    take('[');
    if (!take(']')) {
      do items.push(scanValue(depth + 1));
      while (take(','));
      if (!take(']')) fail('Expected "," or "]"');
    }
    return { kind: 'array', text: text.slice(start, at), items };
  };

  const scanValue = (depth: number): JsonNode => {
    if (depth > maxDepth) fail(`Nested deeper than ${maxDepth} levels`);
    skipSpace();
    const first = text[at];
    if (first === '{') return scanObject(depth);
    if (first === '[') return scanArray(depth);
    if (first === '"') return scanString();
    number.lastIndex = at;
    const written = number.exec(text)?.[0];
    if (written !== undefined) {
      at += written.length;
      return { kind: 'number', text: written };
    }
    for (const [name, value] of Object.entries(literals))
      if (text.startsWith(name, at)) {
        at += name.length;
        return { kind: 'literal', text: name, value };
      }
    return fail(at >= text.length ? 'Unexpected end' : 'Unexpected character');
  };

  const node = scanValue(1);
  skipSpace();
  if (at < text.length) fail('Unexpected text after the JSON value');
  return node;
};

/**
 * Plain values for a schema to judge. A number that was not written as a plain integer JavaScript can
 * hold exactly is NaN, which no schema takes for anything.
 */
export const valueOf = (node: JsonNode): unknown => {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries([...node.members].map(([key, member]) => [key, valueOf(member)]));
    case 'array':
      return node.items.map(valueOf);
    case 'number':
      return plainInteger.test(node.text) && Number.isSafeInteger(Number(node.text))
        ? Number(node.text)
        : NaN;
    case 'string':
    case 'literal':
      return node.value;
  }
};

/** One text for all bodies that differ only in the order of keys and in white space. */
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

/** How deep objects and arrays are nested: 1 for `{}` and `{"a":1}`, 0 for what is neither. */
export const depthOf = (node: JsonNode): number => {
  if (node.kind !== 'object' && node.kind !== 'array') return 0;
  const inner = node.kind === 'object' ? [...node.members.values()] : node.items;
  return 1 + Math.max(0, ...inner.map(depthOf));
};

/**
 * JSON text of an object whose fields keep their order; a `jsonText` stands as it is. The names are
 * ours, and need no escaping. A list is made of hundreds of fields, so no array is made of them.
 */
export const objectText = (
  fields: Record<string, string | number | boolean | null | { jsonText: string }>,
): string => {
  let text = '';
  for (const name in fields) {
    const value = fields[name];
    const isText = typeof value === 'object' && value !== null;
    text += `${text === '' ? '{' : ','}"${name}":${isText ? value.jsonText : JSON.stringify(value)}`;
  }
  return text === '' ? '{}' : `${text}}`;
};
