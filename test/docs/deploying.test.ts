import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder, writeProgram } from '../stack/support.ts';
import { readCompose } from '../support/compose.ts';
import { readProjectFile } from '../support/files.ts';

const { services, configs } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const guide = readProjectFile('docs/operating/deploying.md');
const newVersion = guide.slice(guide.indexOf('With Compose a new version is this'));
const [, upgrade = ''] = /```sh\n([\s\S]*?)```/.exec(newVersion) ?? [];

/** Runs a script with this program in the place of another. @returns what it was told, call by call */
const withStandIn = (script: string, { name, program }: { name: string; program: string }) => {
  const folder = aFolder();
  const log = join(folder, 'calls');
  writeProgram(join(folder, name), [`echo "$*" >> ${log}`, program]);
  const path = `${folder}:/usr/bin:/bin`;
  const { status } = spawnSync('sh', ['-c', script], { env: { PATH: path, LOG: log } });
  const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  return { status, calls };
};

describe('the guide to a new version with Compose', () => {
  /** So many processes of the api run; the call of this number fails. */
  const docker = (running: number, failing: number) => ({
    name: 'docker',
    program: `
      case "$*" in *'ps -q api') seq ${running} ;; esac
      [ "$(wc -l < "$LOG")" -ne ${failing} ]`,
  });

  it('goes on to nothing behind a step that failed', () => {
    const { calls } = withStandIn(upgrade, docker(2, 0));
    expect(calls).toHaveLength(7);
    for (const [index, call] of calls.entries()) {
      const failed = withStandIn(upgrade, docker(2, index + 1));
      expect(failed.calls, call).toHaveLength(index + 1);
      expect(failed.status, call).not.toBe(0);
    }
  });

  it.each([
    [1, '1'],
    [2, '1 2'],
    // Of four ports there are too few for these: that fails before an old one is stopped.
    [3, '1 2 3'],
  ])(
    'starts as many new processes of the api as the %i old ones, and stops those',
    (count, old) => {
      const { calls } = withStandIn(upgrade, docker(count, 0));
      const scaling = `compose up -d --wait --no-deps --no-recreate --scale api=${2 * count} api`;
      expect(calls.slice(-3)).toEqual([scaling, `stop -t 30 ${old}`, `rm ${old}`]);
      expect(services['api']?.ports).toEqual(['127.0.0.1:3000-3003:3000']);
    },
  );

  it('has no attached `up` of what ends: that says 0 where its container failed', () => {
    const ups = guide.match(/docker compose up[^\n&`]*/g) ?? [];
    expect(ups.length).toBeGreaterThan(3);
    for (const up of ups) {
      const ends = up.split(' ').filter((word) => services[word]?.restart === 'no');
      if (!up.includes(' -d')) expect(ends, up).toEqual([]);
    }
  });
});

it('the owner’s password is no argument of the program that grants the roles', () => {
  const folder = aFolder();
  const url = 'postgres://postgres:s3cret-pass_word@postgres:5432/payments';
  writeFileSync(join(folder, 'owner-database-url'), url);
  const [script = ''] = services['roles']?.command ?? [];
  const { status, calls } = withStandIn(script.replace('/run/secrets', folder), {
    name: 'psql',
    program: '[ "$PGPASSWORD" = s3cret-pass_word ]',
  });
  expect(status).toBe(0);
  expect(calls).toEqual([
    'postgres://postgres@postgres:5432/payments --set=ON_ERROR_STOP=1 --file=/roles.sql',
  ]);
});

it('no password is an argument of the program that makes the users: it reads them itself', () => {
  const folder = aFolder();
  writeFileSync(join(folder, 'temporal-password'), 's3cret-of_temporal\n');
  const users = ['api', 'worker', 'admin', 'retention'];
  for (const user of users) {
    const url = `postgres://${user}:s3cret-of_${user}@postgres:5432/payments\n`;
    writeFileSync(join(folder, `${user}-database-url`), url);
  }
  const script = configs['create-users']?.content?.replaceAll('/run/secrets', folder) ?? '';
  const psql = { name: 'psql', program: 'cat >> "$LOG"' };
  const [told, ...lines] = withStandIn(`POSTGRES_USER=postgres\n${script}`, psql).calls;
  expect(told).toBe('--set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres');
  const read = lines.flatMap((line) => {
    const [, name, command = ''] = /^\\set (\w+) `(.*)`$/.exec(line) ?? [];
    return name ? [[name, execFileSync('sh', ['-c', command]).toString().trimEnd()]] : [];
  });
  expect(read).toEqual(['temporal', ...users].map((user) => [user, `s3cret-of_${user}`]));
  for (const user of ['temporal', ...users])
    expect(lines).toContainEqual(
      expect.stringMatching(`^create role ${user} login .*password :'${user}'`),
    );
});
