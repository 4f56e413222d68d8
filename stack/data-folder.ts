import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type KeyRing, parseKeyRing } from '../config.ts';
import { SetupError } from '../process.ts';

/** Writes the whole file with mode 0600. A crash at any moment leaves the whole file or the former one. */
export const writeAtomically = (path: string, text: string, { flush = true } = {}): void => {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600, flush });
  renameSync(temporary, path);
};

export interface DataFolder {
  path: string;
  logs: string;
  bundles: string;
  compileCache: string;
  /** The folder of the Temporal server's databases. */
  temporal: string;
  lock: string;
  processes: string;
  connection: string;
  secretsKey: string;
  webhooksKey: string;
  notificationsKey: string;
  payersKey: string;
}

/**
 * Makes the folder if it is missing; the mode of one that exists stays. Root lets others pass through
 * it, because Postgres, below it, runs as another user. Its content is private, whatever the umask: that
 * belongs to the user, whose caches a build fills.
 */
export const openDataFolder = (path: string): DataFolder => {
  const made = mkdirSync(path, { recursive: true });
  if (made) chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  const makePrivate = (name: string): string => {
    mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
    return join(path, name);
  };
  return {
    path,
    logs: makePrivate('logs'),
    bundles: makePrivate('bundles'),
    compileCache: makePrivate('compile-cache'),
    temporal: makePrivate('temporal'),
    lock: join(path, 'stack.lock'),
    processes: join(path, 'processes.json'),
    connection: join(path, 'connection.json'),
    secretsKey: join(path, 'secrets-key'),
    webhooksKey: join(path, 'webhooks-key'),
    notificationsKey: join(path, 'notifications-key'),
    payersKey: join(path, 'payers-key'),
  };
};

/** The keys that seal what an admin adds for gateways, and the data of payers. Made at the first start. */
export const makeKeys = ({ secretsKey, notificationsKey, payersKey }: DataFolder): void => {
  for (const file of [secretsKey, notificationsKey, payersKey])
    if (!existsSync(file)) writeAtomically(file, newKey());
};

const newKey = () => `k1:${randomBytes(32).toString('base64')}\n`;

/** The key that seals webhook secrets. Made at the first start. @throws SetupError */
export const readKeyRing = ({ webhooksKey, connection }: DataFolder): KeyRing => {
  if (!existsSync(webhooksKey)) {
    // The lost key's secrets cannot be opened. Without this file the demo application gets new credentials.
    rmSync(connection, { force: true });
    writeAtomically(webhooksKey, newKey());
  }
  try {
    return parseKeyRing(readFileSync(webhooksKey, 'utf8').trim());
  } catch (error) {
    // Not a file: a folder stands where a mount found none.
    if (!(error instanceof SetupError))
      throw new SetupError(
        `${webhooksKey} cannot be read (${String(error)}): put back the file, or remove what is there and the demo application gets new credentials.`,
        { cause: error },
      );
    throw new SetupError(
      `${webhooksKey} is damaged: put back what it held, or remove it and the demo application gets new credentials.`,
      { cause: error },
    );
  }
};
