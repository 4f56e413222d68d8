import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer } from './journey.ts';

/** The policy on the way to the gateway; some providers refuse a payer without a referrer. */
export const originOnly = 'strict-origin-when-cross-origin';

/** The texts between the tags of a page's elements with this name. */
export const elementTexts = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))].map(([, text = '']) => text);

const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Checks the rules for every page of a payer. */
export const expectPage = (
  { headers, text }: Pick<Answer, 'headers' | 'text'>,
  referrer = 'no-referrer',
) => {
  expect(text).toMatch(/^<!doctype html>/);
  expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe(referrer);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const policy = headers.get('content-security-policy') ?? '';
  for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(rule);
  expect(policy).not.toMatch(/unsafe|\*|https?:\/\/(?!127\.0\.0\.1)/);
  expect(elementTexts(text, 'style')).toHaveLength(1);
  for (const tag of ['style', 'script'])
    for (const inner of elementTexts(text, tag)) expect(policy).toContain(cspHash(inner));
  expect(text).not.toMatch(/ style=| on\w+=|<link|<img|<iframe|src=/);
  // For phones and screen readers.
  const language = headers.get('content-language') ?? '';
  expect(headers.get('vary')).toBe('Accept-Language');
  expect(text).toMatch(new RegExp(`<html lang="${language}" dir="(ltr|rtl)">`));
  expect(text).toContain('name="viewport" content="width=device-width, initial-scale=1"');
  expect(elementTexts(text, 'title')).toEqual([expect.stringMatching(/\p{Letter}/u)]);
  expect(elementTexts(text, 'h1')).toHaveLength(1);
};

/** Checks the rules for every redirect of a payer. */
export const expectRedirect = (
  { headers, text }: Answer,
  location: string,
  referrer = 'no-referrer',
) => {
  expect(text).toBe('');
  expect(headers.get('location')).toBe(location);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe(referrer);
};
