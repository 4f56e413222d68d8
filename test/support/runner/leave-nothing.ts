import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endsByItself } from '../../../stack/system-processes.ts';

const patienceMs = 60_000;

/**
 * Gives the run a temporary folder of its own, and a watchdog that removes it, however the run ends. The watchdog of a
 * run that is killed also ends what the run has started: Vitest leaves all of it.
 */
export default async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-run-'));
  chmodSync(folder, 0o711); // The user of Postgres passes through.
  // oxlint-disable-next-line node/no-process-env -- It is no setting of the service.
  process.env['TMPDIR'] = folder;
  const watchdog = spawn(
    process.execPath,
    [join(import.meta.dirname, 'watchdog.ts'), String(process.pid), folder, endsByItself],
    { detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  // A signal that came earlier would end it.
  await once(watchdog.stdout, 'data');
  watchdog.stdout.destroy();
  watchdog.unref();
  /** A signal: Vitest exits at once, so nothing else waits for the end of all. */
  const onExit = () => {
    watchdog.kill('SIGTERM');
    const wait = new Int32Array(new SharedArrayBuffer(4));
    for (const end = Date.now() + patienceMs; existsSync(folder) && Date.now() < end;)
      Atomics.wait(wait, 0, 0, 50);
  };
  process.once('exit', onExit);
  process.once('SIGHUP', () => process.exit(128 + 1));
  return async () => {
    process.off('exit', onExit);
    watchdog.ref();
    const ended = once(watchdog, 'exit');
    watchdog.stdin.end('all has ended');
    await ended;
  };
};
