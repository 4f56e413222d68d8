import { expect, it } from 'vitest';
import type { z } from 'zod';
import { settings } from '../../../config.ts';
import { readProjectFile } from '../../support/files.ts';

/** The default as the page writes it. */
const defaultOf = (schema: z.ZodType): string => {
  const { success, data } = schema.safeParse(undefined);
  return success ? String(data ?? '') || 'none' : 'required';
};

it('the page lists every setting with its default and the processes that read it', () => {
  const expected = Object.entries(settings).flatMap(([process, shape]) =>
    Object.entries(shape).map(([name, schema]) => `${process} ${name} ${defaultOf(schema)}`),
  );
  const rows = readProjectFile('docs/configuration.md').matchAll(
    /^\| `([A-Z_]+)` +\| ([^|]+) \| ([^|]+) \|/gm,
  );
  const listed = [...rows].flatMap(([, name, byDefault = '', processes = '']) =>
    processes
      .trim()
      .split(', ')
      .map((process) => `${process} ${name} ${byDefault.trim().replaceAll('`', '')}`),
  );
  expect(listed.toSorted()).toEqual(expected.toSorted());
});
