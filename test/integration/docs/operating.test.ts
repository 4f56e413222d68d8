import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { words } from '../../../admin/cli/reconcile.ts';
import { alerts as alertNames } from '../../../contract/alerts.ts';
import { parse } from 'yaml';
import { aFolder } from '../../support/stack/support.ts';
import { projectFiles, readProjectFile } from '../../support/files.ts';
import { findPromtool } from '../../support/promtool.ts';

const folder = join(import.meta.dirname, '../../../docs/operating');
const rules = readProjectFile('deploy/alerts.yml');
const count = [...rules.matchAll(/- (?:alert|record): /g)].length;
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

describe('the alerts', () => {
  let promtool = '';
  beforeAll(async () => {
    promtool = await findPromtool();
  }, 900_000);
  const run = (...args: string[]) => promisify(execFile)(promtool, args, { cwd: folder });

  it('are rules as Prometheus reads them', async () => {
    const { stdout } = await run('check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml');
    expect(stdout).toContain(`SUCCESS: ${count} rules found`);
  });

  it('and what the dashboard asks is in the language of Prometheus', async () => {
    const { panels } = JSON.parse(readProjectFile('deploy/dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const recorded = asked.map((expr, index) => ({
      record: `dashboard:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(aFolder(), 'dashboard.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const { stdout } = await run('check', 'rules', '--lint=none', file);
    expect(asked.length).toBeGreaterThan(20);
    expect(stdout).toContain(`SUCCESS: ${asked.length} rules found`);
  });

  it('have the jobs that Prometheus beside Compose has', () => {
    const { scrape_configs: jobs } = parse(readProjectFile('deploy/prometheus.yml')) as {
      scrape_configs: { job_name: string }[];
    };
    const names = jobs.map(({ job_name }) => job_name);
    expect(names).toEqual(expect.arrayContaining(rules.match(/(?<=job=")[\w-]+/g) ?? []));
  });

  it('are quiet, and fire when they should', async () => {
    const { stdout } = await run('test', 'rules', 'alerts.test.yml');
    expect(stdout).toContain('SUCCESS');
  });

  it('each have a case in which they are quiet and one in which they fire', () => {
    const text = readProjectFile('deploy/alerts.test.yml');
    const quiet = [...text.matchAll(/- \{ alertname: (\w+), eval_time: \w+ \}/g)];
    const firing = [
      ...text.matchAll(/- alertname: (\w+)\s+eval_time: \w+\s+exp_alerts:(?: &\w+)?\s+- exp/g),
    ];
    for (const cases of [quiet, firing])
      expect([...new Set(cases.map(([, name]) => name))]).toEqual(alerts);
  });

  it('each have a line in the runbook, with what to look at and what to do', () => {
    const lines = readProjectFile('docs/operating/runbook.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .filter(([, name = '']) => /^Payments\w+$/.test(name));
    expect(lines.map(([, name]) => name)).toEqual(alerts);
    for (const [, name, look = '', act = ''] of lines) {
      expect(look.length, name).toBeGreaterThan(20);
      expect(act.length, name).toBeGreaterThan(10);
    }
  });

  it('have a runbook that quotes what the code says', () => {
    const runbook = readProjectFile('docs/operating/runbook.md');
    const rooms = /^(?:activities|admin|api|postgres|worker)\/.+\.ts$/;
    const code = projectFiles()
      .filter((path) => rooms.test(path))
      .map(readProjectFile)
      .join('\n');
    const quoted = [...runbook.matchAll(/`((?:[A-Z]\w+|look) [\w ]+)`/g)].map(
      ([, text = '']) => text,
    );
    expect(quoted.length).toBeGreaterThan(4);
    expect(quoted.filter((text) => !code.includes(text))).toEqual([]);
    const named = [...runbook.matchAll(/"alert":"(\w+)"/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(alertNames).toEqual(expect.arrayContaining(named));
  });

  it('are called by their names in the runbook, and what reconcile prints by its words', () => {
    const runbook = readProjectFile('docs/operating/runbook.md');
    const named = new Set(runbook.match(/\bPayments[A-Z]\w+/g));
    expect([...named].toSorted()).toEqual(alerts.toSorted());
    const overdue = runbook
      .split('\n')
      .find((line) => line.startsWith('| PaymentsWebhooksOverdue '));
    expect(overdue).toContain(`\`${words.delivery_overdue}\` of \`npm run admin -- reconcile\``);
  });
});
