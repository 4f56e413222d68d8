import { expect, it } from 'vitest';
import { z } from 'zod';
import { shapes } from '../../../config.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const defaultValue = z.union([scalar.transform(String), z.string().array().transform(String)]);

/** The default as the page writes it. */
const defaultOf = (schema: z.ZodType): string => {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  return defaultValue.parse(data ?? '') || 'none';
};

it('the page lists every setting with its default and the processes that read it', () => {
  const expected = Object.entries(shapes).flatMap(([process, shape]) =>
    Object.entries(shape).map(([name, schema]) => `${process} ${name} ${defaultOf(schema)}`),
  );
  const rows = readProjectFile('docs/configuration.md').matchAll(
    /^- `([A-Z_]+)` \(([^;)]+); ([^)]+)\): /gm,
  );
  const listed = [...rows].flatMap(([, name, byDefault = '', processes = '']) =>
    processes
      .trim()
      .split(', ')
      .map((process) => `${process} ${name} ${byDefault.trim().replaceAll('`', '')}`),
  );
  expect(listed.toSorted()).toEqual(expected.toSorted());
});
