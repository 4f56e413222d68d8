import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { choosePorts, freePort } from '../../../stack/ports.ts';

it('names every port that is taken or used twice', async () => {
  const [taken, twice] = [await freePort(), await freePort()];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(taken, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());

  await expect(choosePorts({ A: twice, B: twice, C: taken, D: 0 })).rejects.toThrow(
    [
      `Port ${twice} is A's too: set B to a free port (0 finds one).`,
      `Port ${taken} is taken: stop the program that uses it, or set C to a free port (0 finds one).`,
    ].join('\n'),
  );
});

it('chooses different free ports below those of outgoing connections', async () => {
  const ports = Object.values(await choosePorts({ a: 0, b: 0, c: 0 }));
  expect(new Set(ports).size).toBe(3);
  for (const port of ports) expect(port).toBeLessThan(32_000);
});
