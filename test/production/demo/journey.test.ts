import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand, startStack } from '../../support/demo/stack.ts';
import { aFolder } from '../../support/stack/support.ts';
import { forFile } from '../../support/for-file.ts';

const stack = await forFile(startStack());

const runDemo = async (connectionFile: string) => {
  const command = runCommand(['run', 'demo', '--', connectionFile], stack.env);
  return { code: await command.exited, output: command.output() };
};

it('shows a payment from its creation to its verified webhook', async () => {
  const { code, output } = await runDemo(stack.connectionFile);
  expect(code, output).toBe(0);
  expect(output).toMatch(/POST http\S+\/api\/v1\/payments\n/);
  expect(output).toMatch(/302 → http\S+\/api\/v1\/sandbox\/PAY_/);
  expect(output).toContain('✓ The payment is paid.');
  expect(output).toMatch(/x-service-signature: t=\d+,v1=[0-9a-f]{64}/);
  expect(output).toContain('{"event":"payment.paid"');
  expect(output).toContain('✓ The signature is valid');
  expect(output).not.toContain(stack.facts.token);
  // No colours in a pipe.
  expect(output).not.toContain('\u001B[');
});

it.each([
  ['no file', undefined, /connection\.json cannot be read: is the stack running \(npm start\)\?/],
  ['an incomplete file', {}, /does not describe a running stack; wrong or missing: api_base_url/],
  [
    'the file of a stack that has ended',
    {
      api_base_url: 'http://127.0.0.1:9',
      shop_url: 'http://127.0.0.1:9',
      token: 'svc_test_none',
      webhook_secret: 'whsec_none',
    },
    /POST \/payments got no complete answer from http:\/\/127\.0\.0\.1:9 \(.+\)/,
  ],
])('fails with one sentence when there is %s', async (_, content, message) => {
  const connectionFile = join(aFolder(), 'connection.json');
  if (content) writeFileSync(connectionFile, JSON.stringify(content));

  const { code, output } = await runDemo(connectionFile);

  expect(code).toBe(1);
  expect(output.trim().split('\n').at(-1)).toMatch(message);
});
