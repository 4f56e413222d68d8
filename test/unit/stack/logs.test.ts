import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../../stack/logs.ts';
import { until } from '../../support/until.ts';

it('a terminal gets the sentence and the payment of a warning, and the file all lines', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const said: string[] = [];
  const log = openLog(folder, 'worker', (line) => said.push(line));
  const lines = [
    { level: 30, msg: 'Payment ended', payment_id: 'PAY_1' },
    { level: 40, msg: 'Webhook attempt failed', payment_id: 'PAY_1', trace_id: 'a' },
    { level: 50, msg: 'It broke', err: { message: 'with a cause' } },
    { level: 50, err: { message: 'alone' } },
  ].map((line) => JSON.stringify(line));
  for (const line of lines) log.write(line);

  expect(said).toEqual([
    'worker: Webhook attempt failed, PAY_1',
    'worker: It broke (with a cause)',
    'worker: error (alone)',
  ]);
  const text = () => (existsSync(log.path) ? readFileSync(log.path, 'utf8') : '');
  expect(await until('the file is written', () => text().endsWith('}\n') && text())).toBe(
    `${lines.join('\n')}\n`,
  );
});
