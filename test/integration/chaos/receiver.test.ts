import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../../chaos/random.ts';
import { startReceiver } from '../../../chaos/receiver.ts';

it('the receiver knows which process has sent a POST', async () => {
  const receiver = await startReceiver({ failing: 0, random: createRandom('1') });
  onTestFinished(() => receiver.stop());
  const post = `fetch(${JSON.stringify(receiver.url)}, { method: 'POST', body: '{}' })`;
  const program = `process.stdin.once('data', () => ${post}.then(() => process.exit()))`;
  const children = [1, 2].map(() => spawn(process.execPath, ['-e', program]));
  const pids = children.map(({ pid }) => pid ?? 0);
  await fetch(receiver.url, { method: 'POST', body: '{}' });
  receiver.expect(() => pids);
  for (const child of children) {
    child.stdin.write('go');
    await once(child, 'exit');
  }
  expect(receiver.posts().map(({ sender }) => sender)).toEqual([undefined, ...pids]);
});
