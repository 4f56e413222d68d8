import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { choosePorts } from '../../../stack/ports.ts';
import { startTemporal, type RunningTemporal } from '../../../stack/temporal/server.ts';
import { timeSkipping } from '../../../temporal/skip-time.ts';

/** Starts a Temporal server for one test file, which may stop, kill and restart it. */
export const startOwnTemporal = async ({ withUi = false } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-temporal-'));
  const dbFile = join(folder, 'temporal.db');
  const { port, uiPort } = await choosePorts({ port: 0, uiPort: 0 });
  let running: RunningTemporal | undefined;
  const own = {
    address: `127.0.0.1:${port}`,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    async start() {
      running = await startTemporal({
        program: inject('temporalProgram'),
        dbFile,
        port,
        uiPort: withUi ? uiPort : undefined,
        extraArgs: timeSkipping,
      });
    },
    stop: async () => running?.stop(),
    async kill() {
      if (!running) return;
      process.kill(running.pid, 'SIGKILL');
      await running.exited;
    },
    /** Deletes the data of the stopped server. */
    forget: () => rmSync(dbFile, { force: true }),
    async drop() {
      await running?.stop();
      removeFolder(folder);
    },
  };
  try {
    await own.start();
  } catch (error) {
    await own.drop();
    throw error;
  }
  return own;
};
