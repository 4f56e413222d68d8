import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../support/client/run-program.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { aClient, json, token } from '../../support/client/scripted-server.ts';

const root = join(import.meta.dirname, '../../..');
const { tarball, application } = await packAndInstall();
const dist = join(application, 'node_modules/@example/payments/dist');
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string };

describe('the tarball', () => {
  it('has exactly these files', () => {
    const modules = [
      ...['client', 'errors', 'inbox', 'index', 'known-event', 'pages', 'request', 'types'],
      ...['version', 'webhooks'],
    ].flatMap((name) =>
      ['', 'cjs/'].flatMap((to) => [`dist/${to}${name}.d.ts`, `dist/${to}${name}.js`]),
    );
    const commands = ['events', 'listen', 'main', 'output', 'trigger'];
    expect(tarball.files).toEqual(
      [
        ...['README.md', 'package.json', 'dist/cjs/package.json', ...modules],
        ...commands.map((name) => `dist/cli/${name}.js`),
      ].sort(),
    );
  });

  it('has 46 KB at most', () => {
    // It is installed in each deployment of a shop. The page, the types and two kinds of modules are most of it.
    expect(tarball.size).toBeLessThanOrEqual(46_000);
  });

  it('passes publint', () => {
    expect(runProgram('publint/src/cli.js', [tarball.path, '--strict'])).toContain('All good!');
  });

  it('has types that every way of resolving modules finds', () => {
    const output = runProgram('@arethetypeswrong/cli/dist/index.js', [
      tarball.path,
      '--no-emoji',
      '--no-definitely-typed',
    ]);
    expect(output).toContain('No problems found');
  });
});

describe('the installed package', () => {
  it('brings no other package', () => {
    expect(
      readdirSync(join(application, 'node_modules')).filter((name) => !name.startsWith('.')),
    ).toEqual(['@example']);
    expect(readdirSync(join(application, 'node_modules/@example'))).toEqual(['payments']);
  });

  it.each([
    [
      'import',
      'module',
      "import { Payments, webhooks } from '@example/payments'; import { verify } from '@example/payments/webhooks'; console.log(typeof Payments, verify === webhooks.verify)",
    ],
    [
      'require',
      'commonjs',
      "const { Payments, webhooks } = require('@example/payments'); const { verify } = require('@example/payments/webhooks'); console.log(typeof Payments, verify === webhooks.verify)",
    ],
  ])('loads by %s', (_way, type, code) => {
    const output = execFileSync(
      process.execPath,
      // As in Jest, and in every Node before 20.19.
      ['--no-experimental-require-module', `--input-type=${type}`, '--eval', code],
      { cwd: application, encoding: 'utf8' },
    );
    expect(output).toBe('function true\n');
  });

  it('loads where there are only web APIs', () => {
    const program = join(root, 'test/fakes/client/bare-context.ts');
    const output = execFileSync(
      process.execPath,
      ['--experimental-vm-modules', '--no-warnings', program, dist],
      { encoding: 'utf8' },
    );
    expect(JSON.parse(output)).toEqual({ verified: 'payment.paid', error: 'ConnectionError' });
  });

  const program = readFileSync(join(root, 'test/fakes/client/consumer.ts'), 'utf8');
  const modes = [
    { module: 'nodenext', moduleResolution: 'nodenext', type: 'module' },
    { module: 'node16', moduleResolution: 'node16', type: 'commonjs' },
    { module: 'esnext', moduleResolution: 'bundler', type: 'module' },
  ];
  const environments = [
    { name: 'web types', lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    { name: 'Node types', lib: ['es2022'], types: ['node'] },
  ];
  // Every pair of the three choices occurs.
  it.each(
    modes.flatMap((mode, row) =>
      environments.map((environment, column) => ({
        ...mode,
        ...environment,
        exact: (row + column) % 2 === 0,
      })),
    ),
  )(
    'compiles strictly with $moduleResolution, $name, exact optional types $exact',
    ({ module, moduleResolution, type, lib, types, exact }) => {
      const project = mkdtempSync(join(application, 'project-'));
      writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
      writeFileSync(join(project, 'shop.ts'), program);
      const options = {
        target: 'es2022',
        module,
        moduleResolution,
        lib,
        types,
        typeRoots: [join(root, 'node_modules/@types')],
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: exact,
        skipLibCheck: types.length > 0,
        noEmit: true,
      };
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, include: ['shop.ts'] }),
      );
      expect(runProgram('typescript/bin/tsc', ['-p', project])).toBe('');
    },
  );
});

/** The worker: it calls the service with its own fetch and with a given one, and verifies a webhook. */
const worker = (baseUrl: string) => `
  import { Payments, webhooks } from './index.js';
  const settings = { token: '${token}', baseUrl: '${baseUrl}', maxRetries: 0 };
  export default {
    async fetch() {
      const [own, given] = await Promise.all(
        [settings, { ...settings, fetch }].map((each) =>
          new Payments(each).me().then(({ application }) => application, String),
        ),
      );
      const body = '{"event":"payment.paid"}', secret = 'whsec_abc';
      const signature = await webhooks.sign({ body, secret });
      const { event } = await webhooks.verify({ body, secret, signature });
      return Response.json({ own, given, event });
    },
  };`;

/** Starts the worker with the modules of the package, and returns its port. */
const start = async (code: string): Promise<number> => {
  writeFileSync(join(dist, 'worker.js'), code);
  const names = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const modules = ['worker.js', ...names.filter((name) => name !== 'worker.js')];
  const config = join(dist, 'workerd.capnp');
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "internet", network = (allow = ["private", "local"])),
        (name = "main", worker = (
          compatibilityDate = "2025-01-01",
          modules = [${modules.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(', ')}]
        ))
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
    );`,
  );
  const child = spawn(workerd, ['serve', '--control-fd=3', config], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  onTestFinished(async () => {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });
  // It writes a line for each socket that listens.
  const [line] = (await once(createInterface({ input: child.stdio[3] as never }), 'line')) as [
    string,
  ];
  return (JSON.parse(line) as { port: number }).port;
};

it('the package runs in a worker at the edge, with its own fetch and with a given one', async () => {
  const { url } = await aClient([json(200, { application: 'shop', token_mode: 'test' })]);
  const port = await start(worker(url));
  const response = await fetch(`http://127.0.0.1:${port}`);
  expect(await response.json()).toEqual({ own: 'shop', given: 'shop', event: 'payment.paid' });
});
