import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { projectFiles } from '../../support/checks/project-files.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { blocksOf, programs } from '../../support/client/readme.ts';
import { startStack } from '../../support/demo/stack.ts';
import { forFile } from '../../support/for-file.ts';
import { aFolder, killAll } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const root = join(import.meta.dirname, '../../..');
/** A busy machine packs and installs for minutes. */
const limitMs = 300_000;

const stack = await forFile(startStack());

/** A checkout of its own, in which git would show what the blocks leave behind. */
const aCheckout = (folder: string): string => {
  const checkout = join(folder, 'payments');
  for (const path of projectFiles()) {
    mkdirSync(join(checkout, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path));
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: checkout });
  execFileSync('git', ['add', '.'], { cwd: checkout });
  return checkout;
};

/** A terminal in which a reader pastes one block after another. The first command that fails ends it. */
const aTerminal = (cwd: string, env: Record<string, string>) => {
  const child = spawn('bash', ['-e'], { cwd, env, detached: true });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => (output += `${line}\n`));
  onTestFinished(async () => {
    // The group: with what the blocks have started in the background.
    if (child.pid !== undefined) killAll([-child.pid]);
    await ended;
  });
  let pasted = 0;
  const says = (text: string) =>
    until(
      `the terminal says ${text}`,
      () => {
        if (child.exitCode !== null) throw new Error(`The terminal ended:\n${output}`);
        return output.includes(text);
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; its output:\n${output}`, { cause: error });
    });
  return {
    output: () => output,
    says,
    async paste(block: string) {
      pasted += 1;
      child.stdin.write(`${block}\necho "Block ${pasted} has ended."\n`);
      await says(`Block ${pasted} has ended.`);
    },
  };
};

it.for([['this Node', process.execPath] as const, ['Node 20', oldNode] as const])(
  'the blocks of the README lead from npm start to a verified webhook on %s',
  { timeout: 1_200_000 },
  async ([, node], { skip }) => {
    if (node === undefined) return skip(noOldNode);
    const folder = aFolder();
    const checkout = aCheckout(folder);
    const shop = join(folder, 'my-shop');
    const port = await freePort();
    // Other tests may use the ports of the page.
    const here = (code: string) =>
      code
        .replace('http://127.0.0.1:3000', stack.facts.api_base_url)
        .replaceAll('8080', String(port));
    const { paste, says, output } = aTerminal(checkout, {
      ...stack.env,
      PATH: [dirname(node), stack.env['PATH']].join(delimiter),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    });
    const [install, listen, trigger] = blocksOf('From nothing to a verified webhook')
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => here(code));
    const [run, compile] = blocksOf('A first payment')
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code);

    await paste(install ?? '');
    const untracked = execFileSync('git', ['ls-files', '--others', '--exclude-standard'], {
      cwd: checkout,
      encoding: 'utf8',
    });
    expect(untracked).toBe('');
    expect(readFileSync(join(shop, 'test-token'), 'utf8')).toMatch(/^svc_test_\w+\n$/);

    writeFileSync(join(shop, 'receiver.js'), here(programs['receiver.js']));
    await paste(listen ?? '');
    await says('Ready');
    await paste(trigger ?? '');
    await says('Verified: payment.paid of trigger-');

    writeFileSync(join(shop, 'first-payment.ts'), programs['first-payment.ts']);
    const readsTypes = node === process.execPath;
    await paste((run ?? '').replace(/^node .*$/m, readsTypes ? '$&' : ''));
    // The packages that the page names, which a registry would bring.
    for (const name of ['typescript', '@types'])
      symlinkSync(join(root, 'node_modules', name), join(shop, 'node_modules', name));
    symlinkSync('../typescript/bin/tsc', join(shop, 'node_modules/.bin/tsc'));
    await paste(compile ?? '');
    const checkouts = output().match(/^http:\S+\/checkout$/gm);
    // The same idempotency key, and so the same payment.
    expect(new Set(checkouts).size).toBe(1);
    expect(checkouts).toHaveLength(readsTypes ? 2 : 1);
  },
);
