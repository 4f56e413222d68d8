import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: 'OFF' } },
});

const folder = join(import.meta.dirname, 'histories');
const histories = globSync('**/*.json', { cwd: folder }).sort();
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

const replay = (history: unknown) =>
  Worker.runReplayHistory(
    { workflowBundle: { code: readFileSync(inject('workflowBundle'), 'utf8') } },
    history,
  );

describe('the workflows of today', () => {
  it('are tried on a history of each workflow', () => {
    for (const type of ['payment', 'late', 'sweep'])
      expect(histories.filter((file) => file.includes(`/${type}-`))).not.toHaveLength(0);
  });

  it.each(histories)('still replay %s', async (file) => {
    await expect(replay(read(file))).resolves.toBeUndefined();
  });

  it('would be refused when they schedule another activity than they did', async () => {
    const [payment] = histories.filter((file) => file.includes('/payment-'));
    const text = readFileSync(join(folder, payment!), 'utf8');
    const altered: unknown = JSON.parse(text.replaceAll('"openPayment"', '"openAccount"'));
    await expect(replay(altered)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});
