import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLog } from '../../../stack/logs.ts';
import { aFolder } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

it('writes every line to the file, and the sentence of a warning to the terminal', async () => {
  const terminal: string[] = [];
  const log = openLog(aFolder(), 'worker', (line) => terminal.push(line));
  const lines = [
    { level: 30, msg: 'Payment ended', payment_id: 'PAY_1' },
    { level: 40, msg: 'Webhook attempt failed', payment_id: 'PAY_1', trace_id: 'a' },
    { level: 50, msg: 'It broke', err: { message: 'with a cause' } },
    { level: 50, err: { message: 'alone' } },
  ].map((line) => JSON.stringify(line));
  for (const line of lines) log.write(line);

  expect(terminal).toEqual([
    'worker: Webhook attempt failed, PAY_1',
    'worker: It broke (with a cause)',
    'worker: error (alone)',
  ]);
  const text = () => (existsSync(log.path) ? readFileSync(log.path, 'utf8') : '');
  expect(await until('the file is written', () => text().endsWith('}\n') && text())).toBe(
    `${lines.join('\n')}\n`,
  );
});

it.runIf(existsSync('/dev/full'))('goes on once a full disk has space again', async () => {
  const folder = aFolder();
  const path = join(folder, 'worker.log');
  symlinkSync('/dev/full', path);
  const log = openLog(folder, 'worker');
  await until('the full disk is open', () => openFiles().includes('/dev/full'));
  rmSync(path);
  const isKept = await until('a line is written', () => {
    log.write('kept');
    return existsSync(path) && readFileSync(path, 'utf8').includes('kept\n');
  });
  expect(isKept).toBe(true);
});

const openFiles = (): (string | undefined)[] =>
  readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return undefined; // That of the list itself.
    }
  });
