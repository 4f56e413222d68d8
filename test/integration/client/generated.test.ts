import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { findGo, findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { oapiCodegen } from '../../../tools/go-programs.ts';
import { documentText } from '../../../tools/release-openapi.ts';
import { findPythonPackages } from '../../support/client/python-packages.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { type SharedService, useService } from '../../support/service/service.ts';

/*
 * The clients that generators make from docs/openapi.json: a shop in the language uses them at the service.
 */

const [goPrograms, pythonPrograms] = ['oapi-codegen', 'openapi-python-client'].map((name) =>
  join(import.meta.dirname, '../../fakes/client', name),
) as [string, string];
const folder = mkdtempSync(join(tmpdir(), 'payments-generated-'));
const document = join(folder, 'openapi.json');
writeFileSync(document, documentText());

const machine = thisMachine();
const { inherited } = machine;
const run = async (command: string, args: string[], cwd: string, env = inherited) => {
  const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(command, args, options)).stdout;
};

type Shop = (env: Record<string, string>) => Promise<string>;

const goShop = async (): Promise<Shop> => {
  const generator = await findGoProgram(oapiCodegen, machine);
  const go = await findGo(machine);
  const module = join(folder, 'go');
  mkdirSync(join(module, 'payments'), { recursive: true });
  for (const file of ['go.mod', 'go.sum', 'main.go'])
    copyFileSync(join(goPrograms, file), join(module, file));
  const generate = ['-generate', 'types,client,skip-prune', '-package', 'payments', document];
  // It asks Go for the packages that the code may mean.
  const path = `${dirname(go.command)}${delimiter}${inherited.PATH}`;
  const generated = await run(generator, generate, module, { ...go.env, PATH: path });
  writeFileSync(join(module, 'payments/payments.go'), generated);
  const program = join(module, 'shop');
  const build = ['build', ...go.flags, '-mod=readonly', '-o', program, '.'];
  await run(go.command, build, module, { ...go.env, CGO_ENABLED: '0', GOWORK: 'off' });
  return (env) => run(program, [], module, env);
};

const pythonShop = async (): Promise<Shop> => {
  const wheels = join(pythonPrograms, 'openapi-python-client.txt');
  const { python, packages } = await findPythonPackages(wheels);
  const out = join(folder, 'python');
  const config = join(folder, 'python.yml');
  writeFileSync(config, 'post_hooks: []\n'); // Its formatter is not installed.
  await run(
    python,
    [
      ...['-m', 'openapi_python_client', 'generate', '--path', document],
      ...['--output-path', out, '--config', config],
    ],
    folder,
    { ...inherited, PYTHONPATH: packages },
  );
  const paths = `${packages}:${out}`;
  return (env) =>
    run(python, [join(pythonPrograms, 'shop.py')], out, { ...env, PYTHONPATH: paths });
};

let service: SharedService;
beforeAll(async () => {
  service = await useService();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

describe.each([
  { generator: 'oapi-codegen', language: 'go', make: goShop },
  { generator: 'openapi-python-client', language: 'python', make: pythonShop },
])('the client of $generator', ({ language, make }) => {
  const shop = useProgram(make);

  it('creates payments, verifies a webhook, reads, refunds and cancels', async () => {
    const port = await freePort();
    const webhookUrl = `http://127.0.0.1:${port}/webhook`;
    const { token, secret } = await service.anApplication({ webhookUrl });
    const told = await shop()({
      ...inherited,
      BASE_URL: service.url,
      TOKEN: token,
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    });
    expect(JSON.parse(told)).toEqual({
      created: 'pending',
      event: 'payment.paid',
      status: 'paid',
      order_id: `${language}-1`,
      amount: 1250,
      read: 'paid',
      cancelled_by: [null, 'application'],
      refund: [50, null],
      refused: 'VALIDATION_FAILED',
    });
  });
});
