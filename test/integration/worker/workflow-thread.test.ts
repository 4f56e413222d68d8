import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { aNamespace } from '../../support/runner/shared-temporal.ts';
import { until } from '../../support/until.ts';

/** These fail when an update of the SDK changes what worker/workflow-thread.ts changes. */
it('a lean thread takes no stacks, composes no lines that nobody gets, and ends a process whose workflow loops', async () => {
  const { address } = inject('sharedTemporal');
  const namespace = aNamespace();
  const program = resolve(import.meta.dirname, '../../support/worker/lean-worker.ts');
  const taskQueue = randomUUID();
  const child = spawn(process.execPath, [program, address, namespace, taskQueue], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const lines = () => output.trimEnd().split('\n');
  await until('the worker runs', () => lines().includes('ready'));

  const connection = Connection.lazy({ address });
  onTestFinished(() => connection.close());
  const { workflow } = new Client({ connection, namespace });
  const start = (type: string) => workflow.start(type, { taskQueue, workflowId: randomUUID() });
  const waiting = await start('waits');
  await expect(waiting.query('__stack_trace')).rejects.toThrow('not enabled');
  expect(errors).toBe('');

  const beganAt = performance.now();
  const looping = await start('loops');
  const [code] = (await once(child, 'exit')) as [number];
  expect([code, lines().at(-1)]).toEqual([1, 'stuck']);
  expect(performance.now() - beganAt).toBeGreaterThan(9_000);
  expect(lines().filter((line) => line === 'TRACE' || line === 'DEBUG')).toEqual([]);
  await Promise.all([waiting.terminate(), looping.terminate()]);
});
