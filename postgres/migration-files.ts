import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  name: string;
  text: string;
  sha256: string;
}

const ownFolder = new URL('./migrations/', import.meta.url);

/**
 * The migrations of this version, in their order.
 * @throws Error if two files have one number, or a number is left out
 */
export const listMigrations = (folder = ownFolder): { name: string; file: URL }[] => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name, index) => {
    const number = String(index + 1).padStart(4, '0');
    if (!name.startsWith(`${number}_`))
      throw new Error(`${name} is not number ${number}: each migration has the next number`);
    return { name, file: new URL(name, folder) };
  });
};

/** The same with their statements. @throws Error as above */
export const readMigrations = (folder = ownFolder): Migration[] =>
  listMigrations(folder).map(({ name, file }) => {
    const text = readFileSync(file, 'utf8');
    return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
  });
