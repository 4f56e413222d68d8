import { expect } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile } from './files.ts';

interface Matcher {
  metric: string;
  label: string;
  value: string;
  /** One for each alternative of a regular expression. */
  means: ((text: string) => boolean)[];
}

/** What the expressions in a file of rules, or of a dashboard, name. */
export const readExpressions = (path: string) => {
  const content: unknown = parse(readProjectFile(path)); // JSON is YAML too.
  const expressions = textsUnder('expr', content);
  return {
    recorded: textsUnder('record', content),
    /** Of all metrics with such a beginning, and of what rules make of them. */
    names: expressions.flatMap(
      (text) => text.match(/(?:\w+:)?\b(?:payments|temporal|nodejs|process)_[\w:]+/g) ?? [],
    ),
    matchers: expressions.flatMap(matchersIn),
  };
};

const textsUnder = (key: string, node: unknown): string[] =>
  node instanceof Object
    ? Object.entries(node).flatMap(([name, inner]: [string, unknown]) =>
        name === key && typeof inner === 'string' ? [inner] : textsUnder(key, inner),
      )
    : [];

const matcher = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

const matchersIn = (expression: string): Matcher[] =>
  [...expression.matchAll(/([\w:]*)\{([^}]*)\}/g)].flatMap(
    ([selector, metric = '', inside = '']) => {
      // What is not understood here would not be compared.
      expect(inside.replaceAll(matcher, '').replaceAll(/[,\s]/g, ''), selector).toBe('');
      return [...inside.matchAll(matcher)].map(([, label = '', operator = '', value = '']) => ({
        ...{ metric, label, value },
        means: operator.includes('~')
          ? alternativesOf(value).map(
              (one) => (text: string) => new RegExp(`^(?:${one})$`).test(text),
            )
          : [(text: string) => text === value],
      }));
    },
  );

/** `a|b(c|d)` is a, bc and bd. */
const alternativesOf = (pattern: string): string[] => {
  const [group, inside] = /\(([^()]*)\)/.exec(pattern) ?? [];
  if (group === undefined || inside === undefined) return pattern.split('|');
  return inside.split('|').flatMap((one) => alternativesOf(pattern.replace(group, () => one)));
};
