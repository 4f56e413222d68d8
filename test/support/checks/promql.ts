import { expect } from 'vitest';
import { parse } from 'yaml';
import { readProjectFile } from './project-files.ts';

interface Matcher {
  metric: string;
  label: string;
  value: string;
  /** A test for each alternative of a regular expression. */
  alternatives: ((text: string) => boolean)[];
}

/** Reads the metrics and label matchers of a file with rules or a dashboard. */
export const readExpressions = (path: string) => {
  const content: unknown = parse(readProjectFile(path)); // JSON is YAML too.
  const expressions = textsUnder('expr', content);
  return {
    recorded: textsUnder('record', content),
    /** Metrics with these prefixes, and recorded rules based on them. */
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
      // Everything must be parsed, or it would not be checked.
      expect(inside.replaceAll(matcher, '').replaceAll(/[,\s]/g, ''), selector).toBe('');
      return [...inside.matchAll(matcher)].map(([, label = '', operator = '', value = '']) => ({
        metric,
        label,
        value,
        alternatives: operator.includes('~')
          ? splitAlternatives(value).map(
              (one) => (text: string) => new RegExp(`^(?:${one})$`).test(text),
            )
          : [(text: string) => text === value],
      }));
    },
  );

/** `a|b(c|d)` → a, bc, bd. */
const splitAlternatives = (pattern: string): string[] => {
  const [group, inside] = /\(([^()]*)\)/.exec(pattern) ?? [];
  if (group === undefined || inside === undefined) return pattern.split('|');
  return inside.split('|').flatMap((one) => splitAlternatives(pattern.replace(group, () => one)));
};
