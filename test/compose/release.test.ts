import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../contract/version.ts';
import { missingPrograms } from '../../tools/compose/engine.ts';
import { readProjectFile } from '../support/checks/project-files.ts';
import { gitEnvironment, linkPackages, makeCheckout, makeSigningKey } from '../support/checkout.ts';
import { serveBaseImages } from './base-images.ts';

const missing = missingPrograms(['buildah', 'skopeo', 'debootstrap', 'ssh-keygen', 'git']);
if (process.getuid?.() !== 0) missing.push('root');
if (missing.length > 0) console.log(`The release is not tested here: it needs ${missing.join()}`);

describe.skipIf(missing.length > 0)('npm run release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-released-'));
  const [first, second] = [join(folder, 'first'), join(folder, 'a/deeper/second')];
  const [out, again] = [join(folder, 'out'), join(folder, 'again')];
  let base: Awaited<ReturnType<typeof serveBaseImages>>;
  let allowed = '';
  let key = '';
  beforeAll(async () => {
    base = await serveBaseImages(folder);
    makeCheckout(first);
    ({ key, allowed } = makeSigningKey(folder));
    writeFileSync(join(folder, 'allowed_signers'), allowed);
  });
  afterAll(async () => {
    await base?.stop();
    rmSync(folder, { recursive: true });
  });

  const sh = (script: string, cwd: string): Promise<string> => {
    const env = { ...gitEnvironment, HOME: base.home };
    return new Promise((resolve, reject) => {
      execFile('sh', ['-euc', script], { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
        error ? reject(new Error(`${stdout}${stderr}`, { cause: error })) : resolve(stdout.trim()),
      );
    });
  };
  const release = (options: string, cwd: string) => sh(`npm run -s release -- ${options}`, cwd);
  /** The commands of the page by which an operator checks a release. */
  const check = () => {
    const [, section = ''] = readProjectFile('docs/releasing.md').split('\n## Check a release\n');
    return /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? 'false';
  };
  const read = (name: string) => readFileSync(join(out, name), 'utf8');

  it('makes everything that is released, with a signature, and publishes nothing', async () => {
    const said = await release(`${out} --image registry.example/payments --key ${key}`, first);
    expect(readdirSync(out)).toEqual([
      'SHA256SUMS',
      'SHA256SUMS.sig',
      `example-payments-${version}.tgz`,
      'openapi.json',
      `payments-${version}.deployment.tar.gz`,
      `payments-${version}.image.tar`,
      `payments-${version}.sbom.json`,
      'release.txt',
    ]);
    expect(said).toContain('Nothing is published.');
    for (const command of ['skopeo copy', 'git push', 'npm publish'])
      expect(said).toContain(`\n  ${command} `);
    const signers = `-c gpg.ssh.allowedSignersFile=${folder}/allowed_signers`;
    await sh(`git ${signers} verify-tag v${version}`, first);
  });

  it('is checked with the commands of the page, which see a changed byte', async () => {
    writeFileSync(join(out, 'allowed_signers'), allowed);
    const digest = /^image registry\.example\/payments@(sha256:\w{64})$/m.exec(read('release.txt'));
    expect(await sh(check(), out)).toContain(`\n${digest?.[1]}`);
    for (const name of ['openapi.json', 'SHA256SUMS']) {
      const whole = read(name);
      writeFileSync(join(out, name), whole.replace('0', '1'));
      await expect(sh(check(), out)).rejects.toThrow(/FAILED|Signature verification failed/);
      writeFileSync(join(out, name), whole);
    }
    rmSync(join(out, 'allowed_signers'));
  });

  it('names the image by its digest in every file of the deployment', async () => {
    const [image = ''] =
      /registry\.example\/payments@sha256:\w{64}/.exec(read('release.txt')) ?? [];
    await sh(`mkdir unpacked && tar -C unpacked -xf ${out}/*.deployment.tar.gz`, folder);
    const unpacked = join(folder, 'unpacked');
    const compose = readFileSync(join(unpacked, 'docker-compose.yml'), 'utf8');
    const { services } = parse(compose, { merge: true }) as {
      services: Record<string, { image: string; build?: string; pull_policy?: string }>;
    };
    for (const name of ['api', 'migrations', 'admin'])
      expect(services[name]).toMatchObject({ image });
    expect(compose).not.toMatch(/build:|pull_policy:|Built from/);
    const ours = await sh('grep -rhoE "image: (payments|registry).*" .', unpacked);
    expect(new Set(ours.split('\n'))).toEqual(new Set([`image: ${image}`]));

    await sh('test -x deploy/upgrade.sh -a -e CHANGELOG.md -a ! -e secrets', unpacked);
  });

  it('lists what the image has: Node, the packages of npm and of Debian', () => {
    const { metadata, components } = JSON.parse(read(`payments-${version}.sbom.json`)) as {
      metadata: { component: { purl: string } };
      components: { purl: string }[];
    };
    expect(metadata.component.purl).toContain('pkg:oci/payments@sha256%3A');
    const purls = components.map(({ purl }) => purl).join('\n');
    for (const part of ['generic/node', 'deb/debian/tini', 'deb/debian/libc6', 'npm/koa'])
      expect(purls).toContain(`pkg:${part}@`);
    expect(purls).toContain('pkg:npm/%40temporalio/core-bridge@');
    // Not what the build removed, and not what it never installed.
    for (const part of ['npm/%40swc/core-linux', 'npm/vitest', 'npm/%40types'])
      expect(purls).not.toContain(`pkg:${part}`);
  });

  it('makes the same bytes again from the tag, in another folder', async () => {
    await sh(`git clone -q --branch v${version} ${first} ${second}`, folder);
    linkPackages(second);
    const elsewhere = 'umask 077; export TZ=Asia/Tehran LC_ALL=C.UTF-8;';
    const command = `npm run -s release -- ${again} --again ${out}`;
    expect(await sh(`${elsewhere} ${command}`, second)).toContain('Every file is the same');
    expect(readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(read('SHA256SUMS'));
  });
});
