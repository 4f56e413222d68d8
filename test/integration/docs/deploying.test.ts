import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder, writeProgram } from '../../support/stack/support.ts';
import { readCompose } from '../../support/compose.ts';
import { readProjectFile } from '../../support/files.ts';

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
  /** So many processes of each kind run; the call of this number fails. */
  const docker = (running: number, failing: number) => ({
    name: 'docker',
    program: `
      case "$*" in 'compose ps -q '*) seq -f "$4-%g" ${running} ;; esac
      [ "$(wc -l < "$LOG")" -ne ${failing} ]`,
  });
  const kinds = ['worker-payments', 'worker-webhooks', 'api'];

  it('goes on to nothing behind a step that failed', () => {
    const { calls } = withStandIn(upgrade, docker(2, 0));
    expect(calls).toHaveLength(2 + 4 * kinds.length);
    for (const [index, call] of calls.entries()) {
      const failed = withStandIn(upgrade, docker(2, index + 1));
      expect(failed.calls, call).toHaveLength(index + 1);
      expect(failed.status, call).not.toBe(0);
    }
  });

  it.each([
    [1, (kind: string) => `${kind}-1`],
    [2, (kind: string) => `${kind}-1 ${kind}-2`],
    // Of four ports there are too few for these: that fails before an old one is stopped.
    [3, (kind: string) => `${kind}-1 ${kind}-2 ${kind}-3`],
  ])(
    'starts as many new processes of each kind as the %i old ones, and then stops those',
    (count, olds) => {
      const { calls } = withStandIn(upgrade, docker(count, 0));
      const renewed = kinds.flatMap((kind) => {
        const graceSeconds = Number.parseInt(services[kind]?.stop_grace_period ?? '', 10);
        return [
          `compose ps -q ${kind}`,
          `compose up -d --wait --no-deps --no-recreate --scale ${kind}=${2 * count} ${kind}`,
          `stop -t ${graceSeconds} ${olds(kind)}`,
          `rm ${olds(kind)}`,
        ];
      });
      expect(calls.slice(2)).toEqual(renewed);
      expect(services['api']?.ports).toEqual(['127.0.0.1:3000-3003:3000']);
    },
  );

  it('recreates nothing that runs: a bad image would leave none of it', () => {
    const lasting = Object.keys(services).filter((name) => services[name]?.restart !== 'no');
    const { calls } = withStandIn(upgrade, docker(2, 0));
    const ups = calls.filter((call) => call.startsWith('compose up '));
    expect(ups).toHaveLength(kinds.length);
    for (const up of ups)
      if (up.split(' ').some((word) => lasting.includes(word)))
        expect(up).toContain(' --no-recreate ');
  });

  it('has no attached `up` of what ends: that says 0 where its container failed', () => {
    const { calls } = withStandIn(upgrade, docker(1, 0));
    const ups = [
      ...(guide.match(/docker compose up[^\n&`]*/g) ?? []),
      ...calls.filter((call) => call.startsWith('compose up ')),
    ];
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
  expect(lines).toContain("create role temporal login createdb password :'temporal';");
  for (const user of users)
    expect(lines).toContain(
      `create role ${user} login password :'${user}' in role payments_${user};`,
    );
});
