import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { aSurrounding, runCommand, startStack } from '../../support/demo/stack.ts';

const demo = (connectionFile: string, env: Record<string, string>) =>
  runCommand(['run', 'demo', '--', connectionFile], env);

const expectStory = (output: string) => {
  expect(output).toMatch(/POST http\S+\/api\/v1\/payments\n/);
  expect(output).toMatch(/302 → http\S+\/api\/v1\/sandbox\/PAY_/);
  expect(output).toContain('✓ The payment is paid.');
  expect(output).toMatch(/x-service-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(output).toContain('{"event":"payment.paid"');
  expect(output).toContain('✓ The signature is valid');
  // No colours where nobody sees them.
  expect(output).not.toContain('\u001B[');
};

describe('npm run demo', () => {
  it('uses the running stack: paid, and told so by a verified webhook', async () => {
    const stack = await startStack();
    onTestFinished(stack.stop);
    const command = demo(stack.connectionFile, stack.env);
    expect(await command.exited, command.output()).toBe(0);
    expect(command.output()).toContain('Using the stack');
    expect(command.output()).not.toContain(stack.facts.token);
    expectStory(command.output());
  });

  it('starts a stack where none runs, and stops it at the end', async () => {
    const { connectionFile, env, remove } = aSurrounding();
    onTestFinished(remove);
    const command = demo(connectionFile, env);
    expect(await command.exited, command.output()).toBe(0);
    expect(command.output()).toContain('Ready after');
    expectStory(command.output());
    const [, shop = ''] = /Demo shop +(\S+)/.exec(command.output()) ?? [];
    await expect(fetch(shop)).rejects.toThrow('fetch failed');
  });

  it('says in one sentence what failed, with exit code 1', async () => {
    const { connectionFile, env, remove } = aSurrounding();
    onTestFinished(remove);
    const { url } = await aServiceThatRefuses();
    writeFileSync(connectionFile, connectionTo(url));
    const command = demo(connectionFile, env);
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain(
      'The service answered 503 SERVICE_UNAVAILABLE: Too many unstarted payments.\n',
    );
  });

  it('ends with exit code 1 when Ctrl-C comes while it looks for a stack', async () => {
    const { connectionFile, env, remove } = aSurrounding();
    onTestFinished(remove);
    const held = Promise.withResolvers<void>();
    const service = await aServiceThatRefuses(held.promise);
    writeFileSync(connectionFile, connectionTo(service.url));
    const command = demo(connectionFile, env);
    await until('it asks', () => service.asked().length === 2);
    command.signal('SIGINT');
    await sleep(500);
    held.resolve();
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain('Interrupted.');
    expect(service.asked()).not.toContain('POST');
  });
});

const connectionTo = (url: string): string =>
  JSON.stringify({
    ...{ api_base_url: url, shop_url: url },
    ...{ token: 'svc_test_none', webhook_secret: 'whsec_none' },
  });

/** Looks like a running stack, and creates nothing. */
const aServiceThatRefuses = async (answers: Promise<void> = Promise.resolve()) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.method);
    const code = request.method === 'POST' ? 'SERVICE_UNAVAILABLE' : 'PAYMENT_NOT_FOUND';
    const status = request.url === '/' ? 200 : request.method === 'POST' ? 503 : 404;
    response.statusCode = status;
    const said = JSON.stringify({ error: { code, message: 'Too many unstarted payments.' } });
    void answers.then(() => response.end(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
};
