import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTemporal, findTemporalServer } from '../../../stack/temporal/program.ts';
import { aFolder, writeProgram } from '../../support/stack/support.ts';

const versionLine = (cli: string, server: string) =>
  `echo 'temporal version ${cli} (Server ${server}, UI 2.54.1)'`;

/** A machine of its own: a PATH, a cache folder, no network. */
const aMachine = () => {
  const folder = aFolder();
  const place = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const said: string[] = [];
  const paths = [place('bin'), place('opt')];
  const surroundings = {
    CACHE_DIR: join(folder, 'cache'),
    inherited: { PATH: paths.join(':') },
    terminal: {
      say: (line: string) => said.push(line),
      progress: (line: string) => (said.push(line), () => {}),
    },
  };
  return {
    folder,
    said,
    cache: place('cache'),
    temporal: (where: string, cli: string, server: string) => {
      const path = join(place(where), 'temporal');
      writeProgram(path, [versionLine(cli, server)]);
      return path;
    },
    /** A `go` whose `build` runs the given lines with the file to make in $target. */
    go: (version: string, build: string[]) =>
      writeProgram(join(place('bin'), 'go'), [
        `[ "$1" = version ] && echo 'go version go${version} linux/amd64' && exit`,
        'while [ "$1" != -o ]; do shift; done; target=$2',
        ...build,
      ]),
    find: (settings: { TEMPORAL_CLI_PATH?: string } = {}) =>
      findTemporal({ TEMPORAL_DOWNLOAD: false, ...surroundings, ...settings }),
    findServer: () => findTemporalServer(surroundings),
    built: (): string[] =>
      readdirSync(join(folder, 'cache'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.includes('/'))
        .map((name) => name.slice(name.indexOf('/') + 1)),
  };
};

const fourWays = /TEMPORAL_CLI_PATH.*on PATH.*download.*Go 1\.26\.8/;

const goodBuild = [
  `echo "#!/bin/sh\n${versionLine('1.8.2', '1.32.0')}" > "$target"; /bin/chmod 755 "$target"`,
];

describe('findTemporal', () => {
  it('takes the one that TEMPORAL_CLI_PATH names', async () => {
    const machine = aMachine();
    machine.temporal('bin', '1.8.2', '1.32.0');
    const path = machine.temporal('mine', '1.9.0', '1.33.1');

    const found = await machine.find({ TEMPORAL_CLI_PATH: path });

    expect(found).toEqual({ path, cli: '1.9.0', server: '1.33.1' });
  });

  it('refuses a TEMPORAL_CLI_PATH that is missing, something else, or too old', async () => {
    const machine = aMachine();
    const old = machine.temporal('old', '1.5.0', '1.31.9');
    const other = join(machine.folder, 'other');
    writeProgram(other, ['echo hello']);

    await expect(machine.find({ TEMPORAL_CLI_PATH: '/nowhere' })).rejects.toThrow(
      /not an executable/,
    );
    await expect(machine.find({ TEMPORAL_CLI_PATH: other })).rejects.toThrow(/not an executable/);
    await expect(machine.find({ TEMPORAL_CLI_PATH: old })).rejects.toThrow(/1\.31\.9.*1\.32\.0/);
  });

  it('takes the first on PATH whose server is new enough', async () => {
    const machine = aMachine();
    machine.temporal('bin', '1.5.0', '1.31.0');
    const path = machine.temporal('opt', '1.10.0', '1.100.0');

    expect(await machine.find()).toMatchObject({ path, server: '1.100.0' });
  });

  it('names all four ways when there is none', async () => {
    const machine = aMachine();
    machine.temporal('bin', '1.5.0', '1.31.0');

    await expect(machine.find()).rejects.toThrow(/Go is not installed/);
    await expect(machine.find()).rejects.toThrow(fourWays);
  });

  it('does not build with a Go that is too old', async () => {
    const machine = aMachine();
    machine.go('1.26.7', goodBuild);

    await expect(machine.find()).rejects.toThrow(/Go 1\.26\.7 is too old/);
    await expect(machine.find()).rejects.toThrow(fourWays);
  });

  it('builds once, however many start at the same time, and keeps the result', async () => {
    const machine = aMachine();
    const count = join(machine.folder, 'count');
    machine.go('1.26.8', [`echo built >> ${count}; /bin/sleep 0.3`, ...goodBuild]);

    const found = await Promise.all([machine.find(), machine.find(), machine.find()]);
    const again = await machine.find();

    expect(new Set([...found, again].map(({ path }) => path)).size).toBe(1);
    expect(readFileSync(count, 'utf8')).toBe('built\n');
    expect(machine.built()).toEqual(['temporal']);
    expect(machine.said.join('\n')).toMatch(/happens once/);
  });

  it('builds anew what was kept and is damaged', async () => {
    const machine = aMachine();
    machine.go('1.26.8', goodBuild);
    const { path } = await machine.find();
    writeFileSync(path, '');
    expect(await machine.find()).toMatchObject({ path, server: '1.32.0' });
  });

  it('says why a build failed, and leaves nothing of it', async () => {
    const machine = aMachine();
    machine.go('1.26.8', ['echo half > "$target"; echo no such module >&2; exit 1']);

    await expect(machine.find()).rejects.toThrow(/the build failed \(no such module\)/);
    expect(machine.built()).toEqual([]);
  });

  it('takes over from a build that was killed', async () => {
    const machine = aMachine();
    machine.go('1.26.8', ['exit 1']);
    await expect(machine.find()).rejects.toThrow(/build failed/);
    const [name = ''] = readdirSync(machine.cache);
    const dead = JSON.stringify([{ pid: 999_999_999, born: 'long ago' }]);
    writeFileSync(join(machine.cache, name, 'temporal.lock'), dead);
    machine.go('1.26.8', goodBuild);

    const { path } = await machine.find();

    expect(dirname(path)).toBe(join(machine.cache, name));
    expect(machine.built()).toEqual(['temporal']);
  });
});

describe('findTemporalServer', () => {
  it('builds server and SQL tool once, beside the CLI, however many start at the same time', async () => {
    const machine = aMachine();
    const count = join(machine.folder, 'count');
    const said = 'built $3 in ${PWD##*/}, CGO_ENABLED=$CGO_ENABLED';
    machine.go('1.26.8', [`echo "${said}" >> ${count}; /bin/sleep 0.2`, ...goodBuild]);

    const found = await Promise.all([machine.findServer(), machine.findServer()]);
    const again = await machine.findServer();
    const { path } = await machine.find();

    expect(found).toEqual([again, again]);
    // By the module that is ours, and for any machine of its kind.
    expect(readFileSync(count, 'utf8')).toBe(
      ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql']
        .concat('github.com/temporalio/cli/cmd/temporal')
        .map((built) => `built ${built} in temporal, CGO_ENABLED=0\n`)
        .join(''),
    );
    expect(machine.built().sort()).toEqual(['temporal', 'temporal-server', 'temporal-sql-tool']);
    expect(Object.values(again).map(dirname)).toEqual([dirname(path), dirname(path)]);
  });

  it('says what is missing where it cannot be built', async () => {
    const machine = aMachine();
    await expect(machine.findServer()).rejects.toThrow(
      /no temporal-server: Go is not.*Go 1\.26\.8/,
    );
    machine.go('1.26.8', ['echo no such module >&2; exit 1']);
    await expect(machine.findServer()).rejects.toThrow(/the build failed \(no such module\)/);
    expect(machine.built()).toEqual([]);
  });
});
