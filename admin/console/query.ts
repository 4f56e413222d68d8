/** Why a field is not used. Its name stands before it. */
const reasons = {
  unknown: 'there is no such field here.',
  repeated: 'given more than once.',
  meaningless: 'not a value that makes sense here.',
} as const;

const shownName = /^[\w-]{1,30}$/;
const shownMax = 5;

/**
 * The query of an address, which knows what nobody has used of it: fields that no reader has asked for, fields that are given
 * twice, and values that their reader has rejected. So each page and file tells a person about all of them, and not one by one.
 */
export class Query extends URLSearchParams {
  readonly #asked = new Set<string>();
  readonly #lists = new Set<string>();
  readonly #rejected = new Map<string, string>();

  /** Null also for a field that is given more than once. */
  override get(name: string): string | null {
    this.#asked.add(name);
    return this.#isRepeated(name) ? null : super.get(name);
  }

  /** The values of a field that may be given more than once. */
  override getAll(name: string): string[] {
    this.#asked.add(name);
    this.#lists.add(name);
    return super.getAll(name);
  }

  /** Null for a field that is missing, empty or rejected. @param parse null: the text makes no sense */
  read<Value>(name: string, parse: (text: string) => Value | null): Value | null {
    const text = this.get(name);
    if (!text || this.#rejected.has(name)) return null;
    const value = parse(text);
    if (value === null) this.reject([name]);
    return value;
  }

  /** A text of at most so many characters, without blanks around it. */
  readText(name: string, max: number): string | null {
    return this.read(name, (text) => (text.length <= max ? text : null))?.trim() || null;
  }

  /** Says that the page does not use the values of these fields. */
  reject(names: readonly string[], why: string = reasons.meaningless): void {
    for (const name of names) if (this.get(name)) this.#rejected.set(name, why);
  }

  /** The fields with a value that somebody has used. */
  used(): [name: string, value: string][] {
    return [...this].filter(([name, value]) => value !== '' && this.#problemOf(name) === undefined);
  }

  /** Sentences about what was not used; null: nothing. */
  problem(): string | null {
    const problems = [...new Set(this.keys())].flatMap((name) => {
      const why = this.#problemOf(name);
      return why === undefined ? [] : [{ name, why }];
    });
    if (problems.length === 0) return null;
    const byReason = Map.groupBy(problems, ({ why }) => why);
    return [...byReason].map(([why, own]) => `${namesOf(own)}: ${why}`).join(' ');
  }

  #isRepeated(name: string): boolean {
    return !this.#lists.has(name) && super.getAll(name).length > 1;
  }

  #problemOf(name: string): string | undefined {
    if (!this.#asked.has(name)) return reasons.unknown;
    return this.#isRepeated(name) ? reasons.repeated : this.#rejected.get(name);
  }
}

/** An address may have thousands of fields, with any text for a name. */
const namesOf = (problems: readonly { name: string }[]): string => {
  const shown = problems.map(({ name }) => name).filter((name) => shownName.test(name));
  const quoted = shown.slice(0, shownMax).map((name) => `“${name}”`);
  const rest = problems.length - quoted.length;
  return [...quoted, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
};

/** Finds the choice of a text; null for any other text. */
export const oneOf =
  <T extends string>(choices: readonly T[]) =>
  (text: string | null): T | null =>
    choices.find((choice) => choice === text) ?? null;
