import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';

export interface Asset {
  type: string;
  body: Buffer;
  gzipped: Buffer;
}

const own = (name: string) => join(import.meta.dirname, 'assets', name);

/** The files of the pages, by the name of their address without its hash. */
const files = {
  style: { name: 'console.css', path: own('console.css'), type: 'text/css; charset=utf-8' },
  script: { name: 'console.js', path: own('console.js'), type: 'text/javascript; charset=utf-8' },
  icon: { name: 'icon.svg', path: own('icon.svg'), type: 'image/svg+xml' },
  htmx: {
    name: 'htmx.js',
    path: fileURLToPath(import.meta.resolve('htmx.org/dist/htmx.min.js')),
    type: 'text/javascript; charset=utf-8',
  },
} as const;

export type AssetUrls = Readonly<Record<keyof typeof files, string>>;

/** Reads the files once. Their addresses hold a hash of the content, so browsers may keep them for ever. */
export const readAssets = () => {
  const byName = new Map<string, Asset>();
  const urlOf = ({ name, path, type }: (typeof files)[keyof typeof files]): string => {
    const body = readFileSync(path);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    byName.set(`${hash}-${name}`, { type, body, gzipped: gzipSync(body) });
    return `/assets/${hash}-${name}`;
  };
  const urls: AssetUrls = {
    style: urlOf(files.style),
    script: urlOf(files.script),
    icon: urlOf(files.icon),
    htmx: urlOf(files.htmx),
  };
  return { urls, get: (name: string): Asset | undefined => byName.get(name) };
};
export type Assets = ReturnType<typeof readAssets>;
