import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '../contract/version.ts';
import { packClient } from './pack-client.ts';
import { documentText } from './release-openapi.ts';
import { createSbom, listContents } from './sbom.ts';

/*
 * `npm run release` makes all that a release consists of in one folder, from a clean checkout, signs it, makes the tag, and
 * stops before it publishes: docs/releasing.md. The same commit and base images give the same bytes on every machine.
 */

const usage = `Usage:
  npm run release -- FOLDER --image NAME --key FILE   makes a release in FOLDER, for the image NAME of a registry
  npm run release -- FOLDER --again RELEASE           makes it again, to compare it with the one in the folder RELEASE`;

const root = join(import.meta.dirname, '..');
const tag = `v${version}`;
const sums = 'SHA256SUMS';
const notes = 'release.txt';

/** It says what is wrong with the command or the checkout. */
class Refusal extends Error {}

const run = (program: string, args: string[], options: ExecFileSyncOptions = {}): string => {
  try {
    return (
      execFileSync(program, args, {
        cwd: root,
        // The caller sees its messages at once.
        stdio: ['ignore', 'pipe', 'inherit'],
        maxBuffer: 1 << 26,
        ...options,
        encoding: 'utf8',
      } as const)?.trimEnd() ?? ''
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Refusal(`${program} is not installed`, { cause: error });
    throw new Refusal(`This failed: ${program} ${args.join(' ')}`, { cause: error });
  }
};
const git = (...args: string[]) => run('git', args);
/** An optional file. */
const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

interface Commit {
  id: string;
  /** Seconds since 1970. */
  time: string;
}

interface Wanted {
  folder: string;
  /** The image's name, without a tag. */
  image: string;
  /** Signs. Without one it is a release made again. */
  key?: string;
  /** The release that is made again. */
  again?: string;
  /** The digests of its base images. */
  bases: string[];
}

/** @throws Refusal */
export const readCommand = (args: string[]): Wanted => {
  const wrong = (what: string) => new Refusal(`${what}\n${usage}`);
  const options = {
    image: { type: 'string' },
    key: { type: 'string' },
    again: { type: 'string' },
  } as const;
  let given;
  try {
    given = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const { positionals, values } = given;
  const [folder, ...others] = positionals;
  if (!folder || others.length > 0) throw wrong('Name one folder for the release.');
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0))
    throw wrong(`${folder} must be new or empty.`);
  if (values.again !== undefined) {
    if (values.image !== undefined || values.key !== undefined)
      throw wrong('--again takes the image from the release, and signs nothing.');
    return { folder: resolve(folder), ...readRelease(resolve(values.again)) };
  }
  const { image, key } = values;
  if (!image) throw wrong('--image names the image in the registry from which operators pull it.');
  if (!/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/.test(image))
    throw wrong(`--image is the registry and the name, without a tag: not ${image}`);
  if (!key) throw wrong('--key names the file of the private key that signs.');
  if (!existsSync(key)) throw wrong(`There is no key ${key}.`);
  return { folder: resolve(folder), image, key: resolve(key), bases: [] };
};

const readRelease = (again: string) => {
  const lines = read(join(again, notes)).split('\n');
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [image = ''] = valuesOf('image');
  const [commit = ''] = valuesOf('commit');
  if (!image || !commit) throw new Refusal(`${again} has no ${notes} of a release.`);
  if (commit !== git('rev-parse', 'HEAD'))
    throw new Refusal(`That release is of commit ${commit}: check it out.`);
  return { again, image: image.replace(/@.*/, ''), bases: valuesOf('base') };
};

/** Refuses a checkout of which no release can be made. */
const checkCheckout = ({ key }: Wanted) => {
  const changes = git('status', '--porcelain');
  if (changes) throw new Refusal(`The checkout is not clean:\n${changes}`);
  if (key && git('tag', '--list', tag)) throw new Refusal(`The tag ${tag} is there already.`);
  const [, heading = '', entry = ''] =
    /^## (.*)\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(read(join(root, 'CHANGELOG.md'))) ?? [];
  if (heading.replace(/ \(\d{4}-\d\d-\d\d\)$/, '') !== version || heading === version)
    throw new Refusal(
      `CHANGELOG.md must begin with "## ${version} (<date>)", not with "## ${heading}".`,
    );
  if (!/^### What an operator must do\n+\S/m.test(entry))
    throw new Refusal(
      `The entry of ${version} in CHANGELOG.md must say "What an operator must do".`,
    );
  if (read(join(root, 'docs/openapi.json')) !== documentText())
    throw new Refusal('docs/openapi.json is not of this version: npm run openapi');
  if (!key) return;
  // Before the work of minutes, and not after it.
  sign(key, []);
  git('var', 'GIT_COMMITTER_IDENT');
};

/** Signs files, each into a file beside it, or else the input, which is empty. */
const sign = (key: string, files: string[]) =>
  run('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', 'payments', ...files]);

/** The images in the Dockerfile that come from Docker Hub, as `docker.io/library/name:tag`. */
const baseImages = (dockerfile: string): string[] => {
  const [, node = ''] = /^ARG NODE_VERSION=(\S+)$/m.exec(dockerfile) ?? [];
  const names = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name);
  return names.map((name) => `docker.io/library/${name.replace('${NODE_VERSION}', node)}`);
};

/** Buildah with a storage of its own, which goes with the folder. */
const createBuildah = (folder: string) => {
  // Of all drivers `vfs` works everywhere, and another one would put the files into another order.
  const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'storage')];
  return (args: string[], options: ExecFileSyncOptions = {}) =>
    run('buildah', [...storage, '--runroot', join(folder, 'run'), ...args], options);
};
type Buildah = ReturnType<typeof createBuildah>;

/** @returns the base images with the digests that were pulled */
const pullBases = (buildah: Buildah, dockerfile: string, known: string[]): string[] =>
  baseImages(dockerfile).map((name) => {
    const digest =
      known.find((base) => base.startsWith(`${name}@`))?.split('@')[1] ??
      run('skopeo', ['inspect', '--no-tags', '--format', '{{.Digest}}', `docker://${name}`]);
    const repository = name.replace(/:[^:]*$/, '');
    buildah(['tag', buildah(['pull', '--quiet', `${repository}@${digest}`]), name]);
    return `${name}@${digest}`;
  });

const buildImage = (buildah: Buildah, context: string, layout: string, commit: Commit) => {
  const local = `localhost/payments:${version}`;
  buildah(
    [
      ...['build', '--isolation', 'chroot', '--pull-never', '--tag', local],
      // The time of the image and of each file in it.
      ...['--timestamp', commit.time],
      ...['--label', `org.opencontainers.image.revision=${commit.id}`],
      ...['--file', join(context, 'Dockerfile'), context],
    ],
    { stdio: ['ignore', 2, 2] },
  );
  buildah(['push', '--quiet', local, `oci:${layout}:${version}`]);
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    manifests: { digest: string }[];
  };
  const container = buildah(['from', '--pull-never', local]);
  const node = (...args: string[]) =>
    buildah(['run', '--isolation', 'chroot', container, '--', 'node', ...args]);
  const said = node('admin/cli/main.ts', '--version');
  if (said !== version) throw new Refusal(`The image says that it is ${said}.`);
  return { digest: manifests[0]?.digest ?? '', contents: node('--eval', listContents) };
};

/** Names the image by its digest, and lets nobody build another one instead. */
const nameImage = (file: string, image: string) => {
  const text = readFileSync(file, 'utf8')
    .replaceAll(`image: payments:${version}`, `image: ${image}`)
    .replaceAll(/( +#.*\n)? +(build: \.|pull_policy: \w+)\n/g, '');
  if (text.includes(`payments:${version}`)) throw new Refusal(`${file} names payments:${version}`);
  writeFileSync(file, text);
};

/** The files of an operator's folder beside its secrets and settings. */
const deployed = ['CHANGELOG.md', 'docker-compose.yml', 'deploy', 'docs/webhook-receiver.ts'];

const packDeployment = (context: string, image: string, archive: string, commit: Commit) => {
  const listed = git('ls-files', 'docker-compose.yml', 'deploy').split('\n');
  for (const path of listed.filter((name) => /\.ya?ml$/.test(name)))
    nameImage(join(context, path), image);
  packFolder(context, deployed, archive, commit, ['--use-compress-program', 'gzip --no-name']);
};

const packFolder = (
  folder: string,
  names: string[],
  archive: string,
  { time }: Commit,
  more: string[] = [],
) => {
  const same = ['--sort=name', '--format=gnu', `--mtime=@${time}`, '--mode=u+rw,go=rX'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  run('tar', [...same, ...owner, ...more, '-C', folder, '-cf', archive, ...names]);
};

const sumOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

const makeRelease = (wanted: Wanted, temporary: string) => {
  const commit: Commit = { id: git('rev-parse', 'HEAD'), time: git('log', '-1', '--format=%ct') };
  const [context, out, layout] = ['context', 'out', 'layout'].map((name) =>
    join(temporary, name),
  ) as [string, string, string];
  for (const folder of [context, out]) mkdirSync(folder);
  // The commit alone: ignored files stay out, and every file has the rights that Git knows.
  git('archive', '--output', join(temporary, 'commit.tar'), 'HEAD');
  run('tar', ['-C', context, '-xf', join(temporary, 'commit.tar')]);

  const buildah = createBuildah(temporary);
  const bases = pullBases(buildah, readFileSync(join(context, 'Dockerfile'), 'utf8'), wanted.bases);
  const { digest, contents } = buildImage(buildah, context, layout, commit);
  const image = `${wanted.image}@${digest}`;
  const file = (name: string) => join(out, `payments-${version}.${name}`);
  packFolder(layout, ['blobs', 'index.json', 'oci-layout'], file('image.tar'), commit);
  writeFileSync(file('sbom.json'), createSbom(contents, version, image, commit.time));
  packDeployment(context, image, file('deployment.tar.gz'), commit);
  const client = packClient(out).path;
  cpSync(join(context, 'docs/openapi.json'), join(out, 'openapi.json'));
  const facts = [
    `payments ${version}`,
    `commit ${commit.id}`,
    `image ${image}`,
    ...bases.map((base) => `base ${base}`),
    buildah(['--version']),
  ];
  writeFileSync(join(out, notes), `${facts.join('\n')}\n`);
  const names = readdirSync(out).sort();
  writeFileSync(
    join(out, sums),
    names.map((name) => `${sumOf(join(out, name))}  ${name}\n`).join(''),
  );
  return { out, image, client };
};

const compare = (out: string, again: string) => {
  const linesOf = (folder: string) => read(join(folder, sums)).split('\n');
  const there = linesOf(again);
  const different = linesOf(out).filter((line) => !there.includes(line));
  if (different.length > 0)
    throw new Refusal(`These files differ from the release:\n${different.join('\n')}`);
  console.log(`Every file is the same as in ${again}.`);
};

const release = (args: string[]) => {
  const wanted = readCommand(args);
  checkCheckout(wanted);
  if (process.getuid?.() !== 0) throw new Refusal('Building the image needs root.');
  const temporary = mkdtempSync(join(tmpdir(), 'payments-release-'));
  try {
    const { out, image, client } = makeRelease(wanted, temporary);
    if (wanted.key) sign(wanted.key, [join(out, sums)]);
    cpSync(out, wanted.folder, { recursive: true });
    if (wanted.again) return compare(wanted.folder, wanted.again);
    const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${wanted.key}`];
    git(...signing, 'tag', '--sign', '--message', `payments ${version}\n\n${image}`, tag);
    const archive = join(wanted.folder, `payments-${version}.image.tar`);
    console.log(`${wanted.folder} has the release, and this checkout the tag ${tag}. Nothing is published. To publish:
  skopeo copy --preserve-digests oci-archive:${archive} docker://${wanted.image}:${version}
  git push origin ${tag}
  npm publish --access public ${client.replace(out, wanted.folder)}
Then offer the files of the folder beside the tag.`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
};

if (import.meta.main)
  try {
    release(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
