import { execFile } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createAccountComparison } from '../../../postgres/accounts/comparison.ts';
import { findOnPath, MissingProgram, thisMachine } from '../../../stack/programs/machine.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { useProgram } from '../../support/runner/use-program.ts';

const root = join(import.meta.dirname, '../../..');
const [, , section = ''] =
  /### Check an export(.*?)\n([^]*)/.exec(readProjectFile('docs/accounts.md')) ?? [];
const [, commands = ''] = /```sh\n([^]*?)```/.exec(section) ?? [];

useProgram(async () => {
  if (findOnPath('python3', thisMachine()).length === 0)
    throw new MissingProgram('python3 is not installed');
});

const records = await forFile(startRecords());
/** Looks like the checkout, and takes the files that the commands write. */
const folder = mkdtempSync(join(tmpdir(), 'payments-export-'));
for (const name of readdirSync(root)) symlinkSync(join(root, name), join(folder, name));
afterAll(() => rmSync(folder, { recursive: true }));

const run = promisify(execFile);
/** @returns each gateway's days with what the check says of them */
const check = async (shell: string) => {
  // oxlint-disable-next-line node/no-process-env -- npm and Python are on its PATH.
  const env = { ...process.env, DATABASE_URL: records.url };
  const { stdout } = await run('bash', ['-c', `set -e\n${shell}`], { cwd: folder, env }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').slice(0, 3).join(' '));
};

it('shows commands that calculate the hashes of closed days from the export alone', async () => {
  const { sql } = records;
  const hostile = [
    '=1+1',
    "'=1",
    "a;'b;=c",
    '\t"x",\r\n-2',
    'سفارش ۱ 😀 \u007F\u0001\\/',
    '\u200B@x',
    '1',
  ];
  const gateways = [
    { slug: 'plain', zone: 'UTC' },
    { slug: 'tehran', zone: 'Asia/Tehran' },
  ];
  for (const { slug, zone } of gateways) {
    await sql`
      insert into gateways (slug, driver, kind, credentials, time_zone, created_at)
      values (${slug}, 'stripe', 'live', '', ${zone}, '2026-10-31T12:00:00Z')`;
    for (const day of ['2026-11-01', '2026-11-02', '2026-11-03'])
      await sql`
        insert into movements (id, kind, gateway, day, payment_id, application, test, order_id, amount, currency, reference,
          occurred_at, recorded_at)
        select 'payment:' || ${slug} || ${day} || n, case when n % 3 = 0 then 'fee' else 'payment' end, ${slug}, ${day},
          'PAY_' || n, case when n % 3 > 0 then 'shop' end, n % 2 = 0,
          (${hostile}::text[])[1 + n % ${hostile.length}], n - 7, case when n % 5 = 0 then 'JPY' else 'EUR' end,
          case when n % 4 > 0 then (${hostile}::text[])[1 + n % ${hostile.length}] end,
          ${day}::date - interval '1 second' * n / 7, ${day}::date + interval '0.001 second' * n
        from generate_series(1, ${slug === 'tehran' && day === '2026-11-02' ? 10_001 : 40}) as n`;
    const comparison = createAccountComparison(sql);
    for (const day of ['2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03'])
      await comparison.finishDay({ gateway: slug, day }, 'list');
  }
  const whole = (gateway: string) =>
    ['2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03'].map(
      (day) => `${gateway} ${day} whole`,
    );
  expect(await check(commands)).toEqual([...whole('plain'), ...whole('tehran')]);

  const [, , python = ''] = commands.split('\n');
  const file = join(folder, 'movements.csv');
  const exported = readFileSync(file, 'utf8');
  const differs = async (csv: string) => {
    writeFileSync(file, csv);
    return (await check(python)).filter((line) => !line.endsWith('whole'));
  };
  const lines = exported.split('\r\npayment:');
  const of = (day: string, n: number) =>
    lines.findIndex((line) => line.startsWith(`tehran${day}${n},`));
  const without = lines.toSpliced(of('2026-11-02', 77), 1).join('\r\npayment:');
  expect(await differs(without)).toEqual(['tehran 2026-11-02 DIFFERS']);
  const changed = lines.with(
    of('2026-11-03', 8),
    lines[of('2026-11-03', 8)]!.replace(',1,0.01,', ',2,0.01,'),
  );
  expect(await differs(changed.join('\r\npayment:'))).toEqual(['tehran 2026-11-03 DIFFERS']);
});
