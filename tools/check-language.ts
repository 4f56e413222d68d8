import { extname } from 'node:path';
import { projectFiles, readProjectFile } from '../test/support/checks/project-files.ts';

/*
 * Checks one symptom of hard-to-read prose: sentences of comments and pages that open with a relative word
 * instead of their subject ("What fails is tried again" instead of "Failed calls are retried"). Such
 * sentences must be read twice. In well-known open-source projects their share is 0.9 to 1.7 %.
 *
 *   node tools/check-language.ts [--list] [FOLDER or FILE]…
 */

const maxShare = 0.02;

const relativeOpener =
  /^(?:What|Whatever|Who|Whoever|Whose|Of|One (?:that|who|which|of)|Those|Where|How|Which|That|Nobody|Nothing|None|Else|Meanwhile|Lest)\b/;

interface Block {
  line: number;
  text: string;
}

/** Consecutive lines that begin with a comment marker, without the marker. */
const lineComments = (text: string, marker: RegExp): Block[] => {
  const blocks: Block[] = [];
  let current: Block | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const comment = marker.exec(line)?.[1];
    if (comment === undefined) current = undefined;
    else if (current) current.text += `\n${comment}`;
    else blocks.push((current = { line: index + 1, text: comment }));
  }
  return blocks;
};

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

const blockComments = (text: string): Block[] =>
  [...text.matchAll(/\/\*\*?(.*?)\*\//gs)].map((match) => ({
    line: lineOf(text, match.index),
    text: (match[1] ?? '').replaceAll(/^\s*\*\s?/gm, ''),
  }));

/** Paragraphs, list items and table cells, without code and headings. */
const markdownProse = (text: string): Block[] => {
  const prose = text.replaceAll(/```.*?```/gs, (code) => '\n'.repeat(code.split('\n').length - 1));
  return [...prose.matchAll(/(?:^.*\S.*$\n?)+/gm)].flatMap((match): Block[] => {
    const paragraph = match[0];
    const line = lineOf(prose, match.index);
    if (paragraph.startsWith('#')) return [];
    if (paragraph.startsWith('|'))
      return paragraph.split('\n').flatMap((row, index) =>
        row
          .split('|')
          .filter((cell) => cell.trim().split(/\s+/).length > 4)
          .map((cell) => ({ line: line + index, text: cell })),
      );
    return [{ line, text: paragraph.replaceAll(/^\s*(?:[-*]|\d+\.|>)\s+/gm, '') }];
  });
};

const codeComments = (text: string): Block[] => [
  ...blockComments(text),
  ...lineComments(text, /^[ \t]*\/\/[ \t]?(.*)$/),
];
const hashComments = (text: string): Block[] => lineComments(text, /^[ \t]*#[ \t](.*)$/);

const readers: Readonly<Record<string, (text: string) => Block[]>> = {
  '.md': markdownProse,
  '.ts': codeComments,
  '.mjs': codeComments,
  '.sql': (text) => lineComments(text, /^[ \t]*--[ \t]?(.*)$/),
  '.sh': hashComments,
  '.yml': hashComments,
};

const sentencesIn = ({ text }: Block): string[] =>
  text
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:;!?]) (?=[A-Z])/)
    .map((sentence) => sentence.replace(/^@\w+ (?:\{[^}]*\} )?(?:\w+ )?/, ''))
    .filter((sentence) => sentence.split(' ').length >= 4);

/** Counts the sentences of a file and finds those that hide their subject. */
export const checkLanguage = (path: string, text: string) => {
  const blocks = readers[extname(path)]?.(text) ?? [];
  const sentences = blocks.flatMap((block) =>
    sentencesIn(block).map((sentence) => ({ line: block.line, sentence })),
  );
  const hidden = sentences.filter(
    ({ sentence }) => relativeOpener.test(sentence) && !sentence.endsWith('?'),
  );
  return { count: sentences.length, hidden };
};

const main = (args: readonly string[]) => {
  const places = args.filter((arg) => !arg.startsWith('--')).map((arg) => arg.replace(/\/$/, ''));
  const isChecked = (path: string) =>
    places.length === 0 ||
    places.some((place) => place === '.' || path === place || path.startsWith(`${place}/`));
  let count = 0;
  const hidden: string[] = [];
  for (const path of projectFiles().filter(isChecked).toSorted()) {
    const result = checkLanguage(path, readProjectFile(path));
    count += result.count;
    for (const { line, sentence } of result.hidden)
      hidden.push(`${path}:${line}: ${sentence.slice(0, 110)}`);
  }
  const share = hidden.length / Math.max(1, count);
  const isTooMuch = share > maxShare;
  if (isTooMuch || args.includes('--list')) console.log(hidden.join('\n'));
  console.log(
    `${hidden.length} of ${count} sentences hide their subject (${(100 * share).toFixed(1)} %, ` +
      `at most ${100 * maxShare} %)`,
  );
  if (isTooMuch) process.exitCode = 1;
};

if (import.meta.main) main(process.argv.slice(2));
