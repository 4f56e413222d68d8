import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { sign } from '../../../client/src/webhooks.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { runProgram } from '../../support/client/run-program.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { useService } from '../../support/service/service.ts';
import { forFile } from '../../support/for-file.ts';
import { until } from '../../support/until.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readProjectFile('client/README.md');

/** The first program below this text. */
const programAfter = (text: string): string =>
  /```ts\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(text)))?.[1] ?? '';
const programs = {
  'first-payment': programAfter('## A first payment'),
  handle: programAfter('`handle.ts`'),
  express: programAfter('\nExpress:'),
  koa: programAfter('\nKoa:'),
  next: programAfter('\nNext,'),
  hono: programAfter('\nHono:'),
  inbox: programAfter('`inbox.ts`'),
};

const { application } = packAndInstall();
writeFileSync(join(application, 'package.json'), '{"type":"module"}');
// The packages that an application would install beside the client.
for (const name of ['express', 'koa', 'hono', 'postgres', '@types'])
  symlinkSync(join(root, 'node_modules', name), join(application, 'node_modules', name));
for (const [name, program] of Object.entries(programs))
  writeFileSync(join(application, `${name}.ts`), program);
const service = await forFile(useService());

it('the programs of the README compile strictly', () => {
  const options = {
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  };
  writeFileSync(
    join(application, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
  );
  expect(runProgram('typescript/bin/tsc', ['-p', application])).toBe('');
});

it.each(['express', 'koa', 'next', 'hono'] as const)('the receiver for %s is short', (name) => {
  const body = programs[name].split('\n').filter((line) => line && !line.startsWith('import'));
  expect(body.length).toBeLessThanOrEqual(10);
});

describe('the first payment of the README', () => {
  it('has 15 lines at most and prints the address of the checkout', async () => {
    const { token } = await service.anApplication();
    expect(programs['first-payment'].trim().split('\n').length).toBeLessThanOrEqual(15);
    const output = execFileSync(process.execPath, [join(application, 'first-payment.ts')], {
      encoding: 'utf8',
      env: { PAYMENTS_TOKEN: token, PAYMENTS_BASE_URL: service.url },
    });
    expect(output).toMatch(/^http:\S+\/checkout\n$/);
  });
});

describe('the receivers of the README', () => {
  const secret = `whsec_${'k'.repeat(43)}`;
  const event = { ...eventExamples.paid, metadata: { note: 'grüße' } };
  const body = JSON.stringify(event);
  const lines: string[] = [];
  let urls: Record<string, string> = {};
  let stop = async () => {};
  beforeAll(async () => {
    const program = join(root, 'test/fakes/client/recipes.ts');
    const child = spawn(process.execPath, [program, application], {
      // In production Express does not print the stack of an error.
      env: { WEBHOOK_SECRET: secret, NODE_ENV: 'production' },
    });
    const ended = once(child, 'close');
    let errors = '';
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    stop = async () => {
      child.kill();
      await ended;
    };
    const first = await until('the receivers listen', () => {
      if (child.exitCode !== null) throw new Error(errors);
      return lines[0];
    });
    urls = JSON.parse(first) as typeof urls;
  });
  afterAll(() => stop());

  const names = ['express', 'koa', 'next', 'hono'];
  const post = async (name: string, signature: string | undefined, sent = body) => {
    const response = await fetch(urls[name] ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature !== undefined && { 'x-service-signature': signature }),
      },
      body: sent,
    });
    return response.status;
  };

  it.each(names)('accept a signed event in %s, and handle it', async (name) => {
    const before = lines.length;
    expect(await post(name, await sign({ body, secret }))).toBe(204);
    await until('it is handled', () => lines.length > before);
    expect(lines.at(-1)).toBe(
      `payment.paid ${event.event_id} ${event.payment_id} ${event.order_id}`,
    );
  });

  it.each(names)('reject everything else in %s with 400', async (name) => {
    const before = lines.length;
    const signature = await sign({ body, secret });
    expect(await post(name, undefined)).toBe(400);
    expect(await post(name, 'nonsense')).toBe(400);
    expect(await post(name, signature, `${body} `)).toBe(400);
    expect(await post(name, await sign({ body, secret: `${secret}x` }))).toBe(400);
    expect(await post(name, await sign({ body, secret, timestamp: 1 }))).toBe(400);
    expect(lines).toHaveLength(before);
  });
});
