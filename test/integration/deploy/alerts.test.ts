import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { promtool } from '../../../tools/go-programs.ts';
import { readCompose } from '../../support/checks/compose.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { aFolder } from '../../support/stack/support.ts';

const folder = join(import.meta.dirname, '../../../deploy');
const rules = readProjectFile('deploy/alerts.yml');
const ruleCount = [...rules.matchAll(/- (?:alert|record): /g)].length;
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

interface Rule {
  alert?: string;
  expr: string;
  for?: string;
}

describe('promtool', () => {
  const checker = useProgram(() => findGoProgram(promtool, thisMachine()));
  const run = (...args: string[]) => promisify(execFile)(checker(), args, { cwd: folder });

  it('finds valid rules in deploy/alerts.yml', async () => {
    const { stdout } = await run('check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml');
    expect(stdout).toContain(`SUCCESS: ${ruleCount} rules found`);
  });

  it.each(['deploy/systemd', 'deploy/kubernetes'])(
    'finds %s/prometheus.yml valid',
    async (path) => {
      const file = join(aFolder(), 'prometheus.yml');
      const text = readProjectFile(`${path}/prometheus.yml`);
      writeFileSync(file, text.replace(/^rule_files.*/m, `rule_files: ['${folder}/alerts.yml']`));
      const { stdout } = await run('check', 'config', file);
      expect(stdout).toContain(`SUCCESS: ${ruleCount} rules found`);
    },
  );

  // They take half a minute of a core.
  it('passes the tests of the rules', { timeout: 1_800_000 }, async () => {
    const { stdout } = await run('test', 'rules', 'alerts.test.yml');
    expect(stdout).toContain('SUCCESS');
  });

  it('finds valid PromQL in deploy/dashboard.json', async () => {
    const { panels } = JSON.parse(readProjectFile('deploy/dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    const recorded = expressions.map((expr, index) => ({
      record: `dashboard:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(aFolder(), 'dashboard.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
    const { stdout } = await run('check', 'rules', '--lint=none', file);
    expect(stdout).toContain(`SUCCESS: ${expressions.length} rules found`);
  });
});

describe('deploy/alerts.yml', () => {
  const { groups } = parse(rules) as { groups: { rules: Rule[] }[] };
  const all = groups.flatMap((group) => group.rules);
  const minutesOf = (duration = '') =>
    Number(/^\d+/.exec(duration)?.[0]) * (duration.endsWith('h') ? 60 : 1);

  it('fires for nothing that is over: the shortest window of a rate is shorter than `for`', () => {
    // Temporal tries a stuck workflow up to 10 minutes apart.
    const rates = all.filter(({ alert = '', expr, for: wait }) =>
      wait && alert !== 'PaymentsWorkflowsStuck' ? /(?:rate|increase)\(/.test(expr) : false,
    );
    expect(rates.length).toBeGreaterThan(5);
    for (const { alert, expr, for: wait } of rates) {
      const windows = [...expr.matchAll(/\[(\d+[mh])\]/g)].map(([, window]) => minutesOf(window));
      expect(Math.min(...windows), alert).toBeLessThan(minutesOf(wait));
    }
  });

  it('reads what workers for payments alone measure as it was last seen', () => {
    const gauges = ['postgres/metrics/backlog.ts', 'postgres/metrics/upkeep.ts'].flatMap((file) =>
      [...readProjectFile(file).matchAll(/name: '(payments_\w+)'/g)].map(([, name = '']) => name),
    );
    const used = gauges.filter((name) => all.some(({ expr }) => expr.includes(name)));
    expect(used.length).toBeGreaterThan(12);
    const exprs = all.map(({ expr }) => expr).join('\n');
    for (const name of used) {
      const without = exprs.replaceAll(
        new RegExp(`\\w+_over_time\\(max\\(${name}\\)\\[1h:`, 'g'),
        '',
      );
      expect(without, name).not.toContain(name);
    }
  });

  it('has a quiet and a firing test for every alert', () => {
    const tests = readProjectFile('deploy/alerts.test.yml');
    const quiet = [...tests.matchAll(/- \{ alertname: (\w+), eval_time: \w+ \}/g)];
    const firing = [
      ...tests.matchAll(/- alertname: (\w+)\s+eval_time: \w+\s+exp_alerts:(?: &\w+)?\s+- exp/g),
    ];
    const named = (cases: RegExpExecArray[]) => [...new Set(cases.map(([, name]) => name))];
    expect(named(firing)).toEqual(alerts);
    expect(named(quiet)).toEqual(alerts.filter((name) => name !== 'PaymentsWatchdog'));
  });

  it('has a section in the runbook for every alert', () => {
    const sections = readProjectFile('docs/operating/runbook.md').matchAll(/^### (Payments\w+)$/gm);
    expect([...sections].map(([, name]) => name)).toEqual(alerts);
  });
});

interface Job {
  job_name: string;
  dns_sd_configs?: { names: string[]; port: number }[];
  static_configs?: { targets: string[] }[];
}

describe('deploy/prometheus.yml', () => {
  const jobsOf = (file: string) =>
    (parse(readProjectFile(file), { merge: true }) as { scrape_configs: Job[] }).scrape_configs;
  const jobs = jobsOf('deploy/prometheus.yml');
  const others = ['deploy/systemd/prometheus.yml', 'deploy/kubernetes/prometheus.yml'];

  it.each(others)('has the same jobs as %s', (file) => {
    expect(jobsOf(file).map(({ job_name }) => job_name)).toEqual(
      jobs.map(({ job_name }) => job_name),
    );
  });

  it('has the metrics ports of two units of each kind for systemd', () => {
    const targets = jobsOf('deploy/systemd/prometheus.yml').flatMap(
      ({ job_name, static_configs = [] }) =>
        job_name.startsWith('payments-') ? static_configs.flatMap((each) => each.targets) : [],
    );
    const ports = projectFiles()
      .filter((path) => /^deploy\/systemd\/.+@\.service$/.test(path))
      .flatMap((path) => /METRICS_PORT=(\d+)%i/.exec(readProjectFile(path))?.[1] ?? []);
    expect(ports).toHaveLength(3);
    expect(targets).toEqual(ports.flatMap((port) => [1, 2].map((i) => `127.0.0.1:${port}${i}`)));
  });

  it('has the jobs that the alerts use', () => {
    const names = jobs.map(({ job_name }) => job_name);
    const used = new Set(rules.match(/(?<=job=")[\w-]+/g));
    expect(used.size).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining([...used]));
  });

  it('scrapes the metrics port of every service in docker-compose.yml', () => {
    const { services, networks } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
    const scraped = jobs.flatMap(({ dns_sd_configs: targets = [] }) =>
      targets.flatMap(({ names, port }) => names.map((name) => [name, String(port)] as const)),
    );
    const open = Object.entries(services).flatMap(([name, service]) => {
      const port = service.environment?.['METRICS_PORT'];
      return port && service.networks?.includes('inside') ? [[name, port] as const] : [];
    });
    expect(new Map(scraped)).toEqual(new Map(open));
    expect(networks).toHaveProperty('inside');
  });
});
