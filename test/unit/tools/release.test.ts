import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { version } from '../../../contract/version.ts';
import { readCommand } from '../../../tools/release.ts';
import { gitEnvironment, makeCheckout, makeSigningKey } from '../../support/checkout.ts';

const folder = mkdtempSync(join(tmpdir(), 'payments-release-'));
afterAll(() => rmSync(folder, { recursive: true }));
const checkout = join(folder, 'checkout');
const git = makeCheckout(checkout);
const { key } = makeSigningKey(folder);
const out = join(folder, 'out');

/** @returns what it says when it refuses */
const refusal = (...args: string[]): string => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', './node-version.mjs', 'tools/release.ts', ...args],
    { cwd: checkout, env: gitEnvironment, encoding: 'utf8' },
  );
  expect(status, stderr).toBe(1);
  return stderr;
};
const signed = [out, '--image', 'registry.example/payments', '--key', key];
/** Changes a file of the checkout. */
const change = (path: string, by: (text: string) => string) => {
  const file = join(checkout, path);
  writeFileSync(file, by(readFileSync(file, 'utf8')));
};

it.each([
  ['no folder', [], 'Name one folder'],
  ['a folder with files', [folder, ...signed.slice(1)], 'must be new or empty'],
  ['an unknown option', [...signed, '--publish'], "Unknown option '--publish'"],
  ['no name of an image', [out, '--key', key], '--image names the image'],
  ['an image with a tag', [out, '--image', 'payments:1', '--key', key], 'without a tag'],
  ['no key', signed.slice(0, 3), '--key names the file'],
  ['a key that is not there', [...signed.slice(0, 4), '/none'], 'There is no key /none'],
  ['a release that is none', [out, '--again', folder], 'has no release.txt'],
])('says what is wrong with %s', (_, args, said) => {
  expect(() => readCommand(args)).toThrow(said);
});

it('refuses a checkout of which nothing should be released', () => {
  writeFileSync(join(checkout, 'new-file'), '');
  expect(refusal(...signed)).toContain('The checkout is not clean:\n?? new-file');
  rmSync(join(checkout, 'new-file'));

  git('tag', `v${version}`);
  expect(refusal(...signed)).toContain(`The tag v${version} is there already`);
  git('tag', '--delete', `v${version}`);

  const changedBy = (path: string, by: (text: string) => string): string => {
    change(path, by);
    git('commit', '--quiet', '--all', '--message', 'Change a file');
    const said = refusal(...signed);
    git('reset', '--quiet', '--hard', 'HEAD~');
    return said;
  };
  const changelog = 'CHANGELOG.md';
  const undated = (text: string) => text.replace(/^## .*$/m, `## ${version}`);
  expect(changedBy(changelog, undated)).toContain(`must begin with "## ${version} (<date>)"`);
  const other = (text: string) => text.replace(/^## \S+/m, '## 0.9.9');
  expect(changedBy(changelog, other)).toContain('not with "## 0.9.9 (');
  const silent = (text: string) => text.replace('### What an operator must do', '### Changed');
  expect(changedBy(changelog, silent)).toContain('must say "What an operator must do"');
  const older = (text: string) => text.replace(`"version": "${version}"`, '"version": "0.9.9"');
  expect(changedBy('docs/openapi.json', older)).toContain('openapi.json is not of this version');
});

it('refuses a key that cannot sign, before it builds', () => {
  const file = join(folder, 'no-key');
  writeFileSync(file, 'nothing\n', { mode: 0o600 });
  expect(refusal(...signed.slice(0, 4), file)).toContain('ssh-keygen -Y sign');
});
