import { html } from 'hono/html';
import type { Language } from '../../contract/languages.ts';
import { adviceTexts } from '../../contract/payer-advice.ts';
import json from './texts.json' with { type: 'json' };

/** A part of a page, already escaped. */
export type Html = ReturnType<typeof html>;

export type TextName = keyof typeof json | keyof typeof adviceTexts;

/** Every sentence of the payer's pages. A sentence that lacks a language does not compile. */
export const texts: Readonly<Record<TextName, Readonly<Record<Language, string>>>> = {
  ...json,
  ...adviceTexts,
};

/** Finds the texts of one language, and fills their places like `{name}`. */
export const speak =
  (language: Language) =>
  (name: TextName, values: Readonly<Record<string, Html | string>> = {}): Html =>
    html`${texts[name][language]
      .split(/(\{\w+\})/)
      .map((part) => (part.startsWith('{') ? values[part.slice(1, -1)] : part))}`;
