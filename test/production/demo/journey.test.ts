import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import { runCommand } from '../../support/demo/stack.ts';
import { aFolder } from '../../support/stack/support.ts';

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

  const line = ['run', 'demo', '--', connectionFile];
  const { exited, output } = runCommand(line, readStackConfig().inherited);

  expect(await exited).toBe(1);
  expect(output().trim().split('\n').at(-1)).toMatch(message);
});
