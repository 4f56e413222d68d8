import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApi } from '../api/openapi/document.ts';
import type { Contract } from './breaking-changes.ts';
import { breakingChanges } from './breaking-changes.ts';

export const releasedPath = join(import.meta.dirname, '../docs/openapi.json');

/** The document as it is kept: for no particular installation, and readable in a diff. */
export const documentText = (): string =>
  `${JSON.stringify(createOpenApi('https://payments.example'), null, 2)}\n`;

/** Writes the kept document, unless that would break who was built against it. */
const release = () => {
  const text = documentText();
  const breaks = existsSync(releasedPath)
    ? breakingChanges(
        JSON.parse(readFileSync(releasedPath, 'utf8')) as Contract,
        JSON.parse(text) as Contract,
      )
    : [];
  if (breaks.length === 0) return writeFileSync(releasedPath, text);
  console.error(`Not within v1:\n  ${breaks.join('\n  ')}`);
  process.exitCode = 1;
};

if (import.meta.main) release();
