import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../../../stack/lock.ts';
import {
  type FindOptions,
  findTemporal,
  findTemporalServer,
} from '../../../../stack/temporal/program.ts';
import { createTerminal } from '../../../../stack/terminal.ts';
import { until } from '../../../support/until.ts';
import { aFolder, writeProgram } from '../../../support/stack/support.ts';

const versionLine = (cli: string, server: string) =>
  `echo 'temporal version ${cli} (Server ${server}, UI 2.54.1)'`;

/** A machine with a PATH and a cache folder, without network. */
const aMachine = () => {
  const folder = aFolder();
  const makeFolder = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const output: string[] = [];
  const paths = [makeFolder('bin'), makeFolder('opt')];
  const settings = {
    CACHE_DIR: join(folder, 'cache'),
    inherited: { PATH: paths.join(':') },
    terminal: createTerminal((line) => output.push(line)),
  };
  return {
    folder,
    output,
    cache: makeFolder('cache'),
    temporal: (where: string, cli: string, server: string) => {
      const path = join(makeFolder(where), 'temporal');
      writeProgram(path, [versionLine(cli, server)]);
      return path;
    },
    /** A fake `go` whose `build` runs these lines, with the file to make in $target. */
    go: (version: string, build: string[]) =>
      writeProgram(join(makeFolder('bin'), 'go'), [
        `[ "$1" = version ] && echo 'go version go${version} linux/amd64' && exit`,
        'while [ "$1" != -o ]; do shift; done; target=$2',
        ...build,
      ]),
    find: (own: Partial<FindOptions> = {}) =>
      findTemporal({ TEMPORAL_DOWNLOAD: false, ...settings, ...own }),
    findServer: () => findTemporalServer(settings),
    built: (): string[] =>
      readdirSync(join(folder, 'cache'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.includes('/') && !name.includes('.lock'))
        .map((name) => name.slice(name.indexOf('/') + 1)),
  };
};

const theWays = /TEMPORAL_CLI_PATH.*on PATH.*download.*Go 1\.26\.10/;

const goodBuild = [
  `echo "#!/bin/sh\n${versionLine('1.8.2', '1.32.0')}" > "$target"; /bin/chmod 755 "$target"`,
];

describe('findTemporal', () => {
  it('uses the program that TEMPORAL_CLI_PATH names', async () => {
    const machine = aMachine();
    machine.temporal('bin', '1.8.2', '1.32.0');
    const path = machine.temporal('mine', '1.9.0', '1.33.1');

    const found = await machine.find({ TEMPORAL_CLI_PATH: path });

    expect(found).toEqual({ path, cli: '1.9.0', server: '1.33.1' });
  });

  it('rejects a TEMPORAL_CLI_PATH that is missing, another program, or too old', async () => {
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

  describe('on a machine so busy that a program does not answer', () => {
    const answerMs = 500;
    const slow = ['exec /bin/sleep 600'];
    const noAnswer = (name: string) => `${name} did not answer within 0.5 s`;

    it('keeps the program in the cache, and says what did not answer', async () => {
      const machine = aMachine();
      machine.go('1.26.10', goodBuild);
      const { path } = await machine.find();
      const content = readFileSync(path);
      writeProgram(path, slow);
      await expect(machine.find({ answerMs })).rejects.toThrow(noAnswer(path));
      writeFileSync(path, content);
      await expect(machine.find({ answerMs: 60_000 })).resolves.toMatchObject({ path });
    });

    it('keeps the program that it has just made', async () => {
      const machine = aMachine();
      machine.go('1.26.10', [`echo "#!/bin/sh\n${slow[0]}" > "$target"; /bin/chmod 755 "$target"`]);
      await expect(machine.find({ answerMs })).rejects.toThrow(noAnswer('temporal'));
      expect(machine.built()).toEqual(['temporal']);
    });

    const downloads = { TEMPORAL_DOWNLOAD: true, downloadSite: 'http://127.0.0.1:1' };
    it.each([
      ['python3', () => downloads],
      ['go', () => downloads],
      ['mine', (TEMPORAL_CLI_PATH: string) => ({ TEMPORAL_CLI_PATH })],
    ])('does not say that %s is missing or wrong', async (name, optionsFor) => {
      const machine = aMachine();
      const path = join(machine.folder, 'bin', name);
      writeProgram(path, slow);
      const found = machine.find({ answerMs, ...optionsFor(path) });
      await expect(found).rejects.toThrow(noAnswer(name));
      await expect(found).rejects.not.toThrow(/not installed|not an executable/);
    });
  });

  it('uses the first program on PATH whose server is new enough', async () => {
    const machine = aMachine();
    machine.temporal('bin', '1.5.0', '1.31.0');
    const path = machine.temporal('opt', '1.10.0', '1.100.0');

    expect(await machine.find()).toMatchObject({ path, server: '1.100.0' });
  });

  it.each([
    ['there is no Go', undefined, /Go is not installed/],
    ['Go is too old', '1.26.9', /Go 1\.26\.9 is too old/],
  ])('names the ways to get one when %s and the one on PATH is too old', async (_, go, reason) => {
    const machine = aMachine();
    machine.temporal('bin', '1.5.0', '1.31.0');
    if (go) machine.go(go, goodBuild);

    await expect(machine.find()).rejects.toThrow(reason);
    await expect(machine.find()).rejects.toThrow(theWays);
  });

  it('builds once when several starts need it, and keeps the result', async () => {
    const machine = aMachine();
    const count = join(machine.folder, 'count');
    machine.go('1.26.10', [`echo built >> ${count}; /bin/sleep 0.3`, ...goodBuild]);

    const found = await Promise.all([machine.find(), machine.find(), machine.find()]);
    const again = await machine.find();

    expect(new Set([...found, again].map(({ path }) => path)).size).toBe(1);
    expect(readFileSync(count, 'utf8')).toBe('built\n');
    expect(machine.built()).toEqual(['temporal']);
  });

  it('builds again when the kept program is damaged', async () => {
    const machine = aMachine();
    machine.go('1.26.10', goodBuild);
    const { path } = await machine.find();
    writeFileSync(path, '');
    expect(await machine.find()).toMatchObject({ path, server: '1.32.0' });
  });

  it('says why a build failed, and keeps nothing', async () => {
    const machine = aMachine();
    machine.go('1.26.10', ['echo half > "$target"; echo no such module >&2; exit 1']);

    await expect(machine.find()).rejects.toThrow(/the build of \S+ failed \(no such module\)/);
    expect(machine.built()).toEqual([]);
  });

  it('waits for another process that makes the program', async () => {
    const machine = aMachine();
    machine.go('1.26.10', ['exit 1']);
    await expect(machine.find()).rejects.toThrow(/the build of temporal failed/);
    const [name = ''] = readdirSync(machine.cache);
    const lock = takeLock(join(machine.cache, name, 'temporal.lock'));
    machine.go('1.26.10', goodBuild);

    const finding = machine.find();
    await until('it waits', () => machine.output.at(-1)?.startsWith('Waiting for '));
    expect(machine.built()).toEqual([]);
    lock?.release();

    expect(dirname((await finding).path)).toBe(join(machine.cache, name));
    expect(machine.built()).toEqual(['temporal']);
  });
});

describe('findTemporalServer', () => {
  it('builds the server and the SQL tool once, beside the CLI', async () => {
    const machine = aMachine();
    const count = join(machine.folder, 'count');
    const report = 'built $3 in ${PWD##*/}, CGO_ENABLED=$CGO_ENABLED';
    machine.go('1.26.10', [`echo "${report}" >> ${count}; /bin/sleep 0.2`, ...goodBuild]);

    const found = await Promise.all([machine.findServer(), machine.findServer()]);
    const again = await machine.findServer();
    const { path } = await machine.find();

    expect(found).toEqual([again, again]);
    // From our own module, and for any machine of this platform.
    expect(readFileSync(count, 'utf8')).toBe(
      ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql']
        .concat('github.com/temporalio/cli/cmd/temporal')
        .map((built) => `built ${built} in temporal, CGO_ENABLED=0\n`)
        .join(''),
    );
    expect(machine.built().sort()).toEqual(['temporal', 'temporal-server', 'temporal-sql-tool']);
    expect(Object.values(again).map(dirname)).toEqual([dirname(path), dirname(path)]);
  });

  it('says what is missing when it cannot build', async () => {
    const machine = aMachine();
    await expect(machine.findServer()).rejects.toThrow(
      /^Go 1\.26\.10 or newer is missing: Go is not/,
    );
    machine.go('1.26.10', ['echo no such module >&2; exit 1']);
    await expect(machine.findServer()).rejects.toThrow(
      /the build of \S+ failed \(no such module\)/,
    );
    expect(machine.built()).toEqual([]);
  });
});
