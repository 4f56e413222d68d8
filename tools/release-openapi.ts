import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApi } from '../api/openapi/document.ts';
import type { OpenApiDocument } from './breaking-changes.ts';
import { breakingChanges } from './breaking-changes.ts';

export const releasedPath = join(import.meta.dirname, '../docs/openapi.json');

/** The document as released: with an example base URL, and indented for readable diffs. */
export const documentText = (): string =>
  `${JSON.stringify(createOpenApi('https://pay.example'), null, 2)}\n`;

/** Writes the released document, unless the changes would break an application. */
const release = async () => {
  const text = documentText();
  const parse = (json: string) => JSON.parse(json) as OpenApiDocument; // Written by this program.
  const breaking = existsSync(releasedPath)
    ? await breakingChanges(parse(readFileSync(releasedPath, 'utf8')), parse(text))
    : [];
  if (breaking.length === 0) return writeFileSync(releasedPath, text);
  console.error(
    `docs/openapi.json was not written. These changes would break applications within v1:\n  ${breaking.join('\n  ')}`,
  );
  process.exitCode = 1;
};

if (import.meta.main) await release();
