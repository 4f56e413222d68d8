import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** The whole file or the former one, also when the machine stops in the middle; mode 0600. */
export const writeAtomically = (path: string, text: string, { flush = true } = {}): void => {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600, flush });
  renameSync(temporary, path);
};

export interface DataFolder {
  path: string;
  logs: string;
  lock: string;
  processes: string;
  connection: string;
  secretsKey: string;
}

/**
 * Makes the folder where there is none; one that is there, perhaps /tmp, stays as open as it is. As root,
 * others may pass through it: Postgres, below it, runs as another user.
 */
export const openDataFolder = (path: string): DataFolder => {
  const made = mkdirSync(path, { recursive: true });
  if (made) chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  mkdirSync(join(path, 'logs'), { recursive: true, mode: 0o700 });
  const inside = (name: string) => join(path, name);
  return {
    path,
    logs: inside('logs'),
    lock: inside('stack.lock'),
    processes: inside('processes.json'),
    connection: inside('connection.json'),
    secretsKey: inside('secrets-key'),
  };
};

/** The key that seals webhook secrets, made once. @returns it in the form of SECRETS_KEY. */
export const readSecretsKey = ({ secretsKey, connection }: DataFolder): string => {
  if (!existsSync(secretsKey)) {
    // What the former key sealed is lost: without this file the seeding issues a new secret.
    rmSync(connection, { force: true });
    writeAtomically(secretsKey, `k1:${randomBytes(32).toString('base64')}\n`);
  }
  return readFileSync(secretsKey, 'utf8').trim();
};
