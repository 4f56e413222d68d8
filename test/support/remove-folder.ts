import { rmSync } from 'node:fs';

/** Removes a folder in which a process that is ending may still write. */
export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
