import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/*
 * `npm run build-client` compiles the client package into client/dist, as ES modules and as CommonJS. `packClient` makes the tarball that
 * npm would publish, from a copy, so that tests leave the checkout as it is.
 */

const root = join(import.meta.dirname, '..');

export interface Tarball {
  path: string;
  size: number;
  /** Paths in the package, sorted. */
  files: string[];
}

const build = (folder: string) => {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  // The copy has no node_modules above it.
  const types = join(root, 'node_modules/@types');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  for (const config of ['tsconfig.json', 'tsconfig.cjs.json'])
    execFileSync(process.execPath, [compiler, '-p', join(folder, config), '--typeRoots', types]);
  // The types are the same in both. The largest file is there once: an ES module may have types from CommonJS.
  for (const name of readdirSync(join(folder, 'dist')).filter((each) => each.endsWith('.d.ts')))
    cpSync(join(folder, 'dist', name), join(folder, 'dist/cjs', name));
  writeFileSync(join(folder, 'dist/types.d.ts'), "export * from './cjs/types.js';\n");
  // The package's own type is that of its ES modules.
  writeFileSync(join(folder, 'dist/cjs/package.json'), '{"type":"commonjs"}\n');
};

/** Packs the client into this folder. */
export const packClient = (to: string): Tarball => {
  const copy = mkdtempSync(join(tmpdir(), 'payments-client-'));
  try {
    cpSync(join(root, 'client'), copy, { recursive: true });
    build(copy);
    // npm packs the rights of files, which depend on the umask of the checkout.
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', copy]);
    const output = execFileSync('npm', ['pack', copy, '--pack-destination', to, '--json'], {
      cwd: to,
      encoding: 'utf8',
    });
    // npm writes a list of packages; newer versions an object by name.
    const [packed] = Object.values(
      JSON.parse(output) as Record<
        string,
        { filename: string; size: number; files: { path: string }[] }
      >,
    );
    if (!packed) throw new Error(`npm pack reported no package: ${output}`);
    return {
      path: resolve(to, packed.filename.replace(/^@/, '').replace('/', '-')),
      size: packed.size,
      files: packed.files.map(({ path }) => path).sort(),
    };
  } finally {
    rmSync(copy, { recursive: true });
  }
};

if (import.meta.main) build(join(root, 'client'));
