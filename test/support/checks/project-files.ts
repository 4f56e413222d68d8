import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../../..');

export const readProjectFile = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Paths of all files of the repository, except those that .gitignore names. */
export const projectFiles = (): string[] => {
  const ignored = new Set(['.git', ...readProjectFile('.gitignore').split(/\/?\n/)]);
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => !ignored.has(name))
    .flatMap((entry) =>
      entry.isFile()
        ? [entry.name]
        : readdirSync(join(root, entry.name), { recursive: true, withFileTypes: true })
            .filter((inner) => inner.isFile())
            .map((inner) => relative(root, join(inner.parentPath, inner.name))),
    )
    .filter((path) => ![...ignored].some((name) => path === name || path.startsWith(`${name}/`)));
};
