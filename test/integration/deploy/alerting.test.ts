import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { launch } from '../../../stack/processes.ts';
import { findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { freePort } from '../../../stack/ports.ts';
import * as programs from '../../../tools/go-programs.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { anOutsideProgram } from '../../support/servers/outside-program.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { aCheckout, writeProgram } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

const amtool = useProgram(() => findGoProgram(programs.amtool, thisMachine()));
const alertmanager = useProgram(() => findGoProgram(programs.alertmanager, thisMachine()));
const run = promisify(execFile);

interface Rule {
  alert?: string;
  labels?: { severity: string };
}
const { groups } = parse(readProjectFile('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules).filter(({ alert }) => alert !== undefined);

const mailSettings = {
  ALERTS_TO: 'ops@shop.example,night@shop.example',
  SMTP_HOST: 'localhost',
  SMTP_FROM: 'payments@shop.example',
};

/** An installation, as far as the script goes. Its `docker` starts the programs of the containers here. */
const anInstallation = (settings: Record<string, string>, secrets: Record<string, string> = {}) => {
  const { folder, path } = aCheckout(
    ['alerting.sh'],
    [
      'echo "$*" >> docker-calls',
      'case "$*" in',
      `  'compose run '*) shift 7; exec ${amtool()} "$1" "deploy/\${2##*/}" ;;`,
      `  'compose exec '*) shift 6; exec ${amtool()} "--alertmanager.url=$ALERTMANAGER" "$@" ;;`,
      'esac',
    ],
  );
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  const none = ['smtp-password', 'alerts-webhook-url', 'alerts-slack-url', 'alerts-heartbeat-url'];
  const files = { ...Object.fromEntries(none.map((name) => [name, ''])), ...secrets };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, 'secrets', name), content);
  return {
    folder,
    written: join(folder, 'deploy/alertmanager.yml'),
    async call(args: string[] = [], url = '') {
      const env = { PATH: path, ALERTMANAGER: url };
      try {
        const { stdout, stderr } = await run('sh', ['deploy/alerting.sh', ...args], {
          cwd: folder,
          env,
        });
        return { code: 0, said: stdout + stderr };
      } catch (error) {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      }
    },
  };
};

describe('deploy/alerting.sh', () => {
  it.each([
    ['no receiver at all', {}, {}, 'Nobody would get an alert'],
    ['mail without a server', { ALERTS_TO: 'ops@shop.example' }, {}, 'needs SMTP_HOST'],
    ['mail without a sender', { ...mailSettings, SMTP_FROM: '' }, {}, 'SMTP_FROM'],
    ['a name for an address', { ...mailSettings, ALERTS_TO: 'ops' }, {}, 'ops is no mail address'],
    ['a server with its port', { ...mailSettings, SMTP_HOST: 'localhost:25' }, {}, 'SMTP_PORT'],
    ['a port in words', { ...mailSettings, SMTP_PORT: 'smtp' }, {}, 'is no port'],
    ['commas alone', { ...mailSettings, ALERTS_TO: ',, ' }, {}, 'ALERTS_TO'],
    ['a path for an address', { ...mailSettings, ALERTS_TO: 'ops@shop/a' }, {}, 'is no mail'],
    [
      'a name beside the address',
      { ...mailSettings, ALERTS_TO: 'Ops <o@shop.example>' },
      {},
      'ALERTS_TO',
    ],
    ['port 0', { ...mailSettings, SMTP_PORT: '0' }, {}, 'is no port'],
    [
      'a password that is blank',
      { ...mailSettings, SMTP_USER: 'payments' },
      { 'smtp-password': ' \n' },
      'secrets/smtp-password',
    ],
    ['an address that is blank', {}, { 'alerts-slack-url': '\r\n' }, 'Nobody would get an alert'],
    ['a port that is too high', { ...mailSettings, SMTP_PORT: '99999' }, {}, 'is no port'],
    [
      'a login without its password',
      { ...mailSettings, SMTP_USER: 'payments' },
      {},
      'secrets/smtp-password',
    ],
    [
      'a quote',
      { ...mailSettings, SMTP_FROM: "a'b@shop.example" },
      {},
      'SMTP_FROM in .env has a character',
    ],
    [
      'another key of the file',
      { ...mailSettings, SMTP_USER: 'a # b' },
      {},
      'SMTP_USER in .env has a character',
    ],
    [
      'a webhook without a scheme',
      {},
      { 'alerts-webhook-url': 'hooks.example/x' },
      'is no address',
    ],
    [
      'two addresses',
      {},
      { 'alerts-slack-url': 'https://a.example\nhttps://b.example\n' },
      'is no address',
    ],
  ])('refuses %s, and leaves the file in force', async (_what, settings, secrets, why) => {
    const installation = anInstallation(settings, secrets);
    writeFileSync(installation.written, 'as before');
    const { code, said } = await installation.call();
    expect(said).toContain(why);
    expect(code).toBe(2);
    expect(readFileSync(installation.written, 'utf8')).toBe('as before');
    expect(existsSync(join(installation.folder, 'docker-calls'))).toBe(false);
  });

  it('refuses a secret that Alertmanager could not read, and shows none', async () => {
    const url = 'https://ops:the-password@hooks.example/x';
    const installation = anInstallation({}, { 'alerts-webhook-url': url });
    chmodSync(join(installation.folder, 'secrets/alerts-webhook-url'), 0o400);
    const { code, said } = await installation.call();
    expect([code, said]).toEqual([
      2,
      expect.stringContaining('chmod 0444 secrets/alerts-webhook-url'),
    ]);
    expect(said).not.toContain('the-password');
    chmodSync(join(installation.folder, 'secrets/alerts-webhook-url'), 0o444);
    const right = await installation.call();
    expect(right.code, right.said).toBe(0);
    expect(right.said + readFileSync(installation.written, 'utf8')).not.toContain('the-password');
  });

  it('takes files that another system wrote, with spaces, quotes and a line that is repeated', async () => {
    const installation = anInstallation(
      {},
      { 'alerts-webhook-url': 'https://hooks.example/x\r\n' },
    );
    writeFileSync(
      join(installation.folder, '.env'),
      [
        ...['ALERTS_TO=old@shop.example', 'ALERTS_TO = "ops@shop.example,,night@shop.example" '],
        ...["SMTP_HOST='localhost'", 'SMTP_FROM=payments@shop.example', ''],
      ].join('\r\n'),
    );
    const { code, said } = await installation.call();
    expect(code, said).toBe(0);
    const config = readFileSync(installation.written, 'utf8');
    expect([...config.matchAll(/- to: '(.*)'/g)].map(([, to]) => to)).toEqual([
      'ops@shop.example',
      'night@shop.example',
    ]);
    expect(config).not.toContain('\r');
  });

  it.each([
    ['https://pay.shop.example', 'pay.shop.example'],
    ['http://pay.shop.example.:8080/base', 'pay.shop.example'],
    ['http://203.0.113.7:8080', '[203.0.113.7]'],
    ['http://localhost:8080', undefined],
    ["https://pay.shop.example'", undefined],
    ['', undefined],
  ])('greets the mail server by the name of %j', async (url, name) => {
    const installation = anInstallation({ ...mailSettings, PUBLIC_BASE_URL: url });
    await installation.call();
    const { global } = parse(readFileSync(installation.written, 'utf8')) as {
      global: { smtp_hello?: string };
    };
    expect(global.smtp_hello).toBe(name);
  });

  it('leaves out nothing about money, and names no alert that the rules do not have', async () => {
    const installation = anInstallation(mailSettings);
    await installation.call();
    const { inhibit_rules: inhibitions } = parse(readFileSync(installation.written, 'utf8')) as {
      inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[];
    };
    const named = (matchers: string[]) => matchers.join().match(/Payments\w+/g) ?? [];
    const names = rules.map(({ alert }) => alert);
    for (const { source_matchers: sources, target_matchers: targets } of inhibitions) {
      expect(names).toEqual(expect.arrayContaining([...named(sources), ...named(targets)]));
      expect(named(targets).length).toBeGreaterThan(0);
      expect(named(targets).join()).not.toMatch(
        /Money|Refund|Mismatch|OutcomeUnknown|LatePayment|Duplicate|PaymentsOverdue|Account/,
      );
    }
  });

  it('names its options, and a folder without secrets', async () => {
    const installation = anInstallation(mailSettings);
    await expect(installation.call(['--tset'])).resolves.toMatchObject({
      code: 2,
      said: expect.stringContaining('Usage') as string,
    });
    writeFileSync(join(installation.folder, '.env'), '');
    await expect(installation.call()).resolves.toMatchObject({ code: 2 });
  });

  it('prints the file for an Alertmanager of your own, without Docker', async () => {
    const url = 'https://hooks.example/x';
    const compose = anInstallation(mailSettings, { 'alerts-webhook-url': url });
    await compose.call();
    const own = anInstallation(mailSettings, { 'alerts-webhook-url': url });
    renameSync(join(own.folder, 'secrets'), join(own.folder, 'own'));
    renameSync(join(own.folder, '.env'), join(own.folder, 'own/payments.env'));
    chmodSync(join(own.folder, 'own/alerts-webhook-url'), 0o400);
    const printed = await own.call(['--print', 'own', '/run/secrets']);
    expect(printed).toEqual({ code: 0, said: readFileSync(compose.written, 'utf8') });
    const { said } = await own.call(['--print', 'own']);
    expect(said).toContain('url_file: own/alerts-webhook-url\n');
    expect(existsSync(join(own.folder, 'docker-calls'))).toBe(false);
  });

  it('prints why a file cannot be checked, and leaves the one in force', async () => {
    const installation = anInstallation(mailSettings);
    writeFileSync(installation.written, 'as before');
    // As without deploy/monitoring.yml in COMPOSE_FILE.
    writeProgram(join(installation.folder, 'bin/docker'), [
      "echo 'no such service: alertmanager' >&2",
      'exit 1',
    ]);
    await expect(installation.call()).resolves.toEqual({
      code: 1,
      said: 'no such service: alertmanager\n',
    });
    expect(readFileSync(installation.written, 'utf8')).toBe('as before');
    expect(existsSync(`${installation.written}.new`)).toBe(false);
  });

  it.each([
    [
      'mail',
      { ...mailSettings, SMTP_USER: 'payments', SMTP_PORT: '465' },
      { 'smtp-password': 'x' },
    ],
    ['mail without a login', mailSettings, {}],
    ['a webhook', {}, { 'alerts-webhook-url': 'https://hooks.example/a?key=b\n' }],
    [
      'Slack',
      { COMPOSE_FILE: 'docker-compose.yml:deploy/monitoring.yml' },
      { 'alerts-slack-url': 'https://hooks.example/b' },
    ],
  ])('sends every alert of the rules to people by %s alone', async (what, settings, secrets) => {
    const installation = anInstallation(settings, secrets);
    const { code, said } = await installation.call();
    expect(code, said).toBe(0);
    expect(said).toContain('alerts-heartbeat-url is empty');
    const config = readFileSync(installation.written, 'utf8');
    for (const secret of Object.values(secrets)) expect(config).not.toContain(secret.trim() + '\n');
    expect(config).not.toContain('hooks.example');
    expect(rules.length).toBeGreaterThan(25);
    const severities = new Set(rules.map(({ labels }) => labels?.severity));
    expect(severities).toEqual(new Set(['page', 'ticket', 'none']));
    // Whom a kind of alert reaches is the same text for each way of sending.
    const first = new Map(rules.map((rule) => [rule.labels?.severity, rule])).values();
    for (const { alert = '', labels } of what === 'mail' ? rules : first)
      await run(amtool(), [
        ...['config', 'routes', 'test', '--config.file', installation.written],
        `--verify.receivers=${alert === 'PaymentsWatchdog' ? 'heartbeat' : 'people'}`,
        ...[`alertname=${alert}`, `severity=${labels?.severity}`],
      ]);
  });
});

/** Ten times as fast as the file says; a group that has no such line has the default of Alertmanager. */
const tenTimesAsFast = (config: string) =>
  config
    .replaceAll(
      /(group_\w+): (\d+)([sm])$/gm,
      (_, name: string, count: string, unit: string) =>
        `${name}: ${Number(count) * (unit === 'm' ? 6_000 : 100)}ms`,
    )
    .replace('group_by: [alertname]\n', 'group_by: [alertname]\n  group_wait: 3s\n')
    .replace('repeat_interval: 4m', 'repeat_interval: 12s');

/** Alertmanager with what the script has written, in a faster time. */
const startAlertmanager = async ({ folder, written, call }: ReturnType<typeof anInstallation>) => {
  const { code, said } = await call();
  expect(code, said).toBe(0);
  // The folder of Compose for secrets.
  const config = readFileSync(written, 'utf8').replaceAll('/run/secrets', join(folder, 'secrets'));
  writeFileSync(written, tenTimesAsFast(config));
  chmodSync(written, 0o600);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const lines: string[] = [];
  const program = await launch({
    name: 'alertmanager',
    command: alertmanager(),
    args: [
      ...[`--config.file=${written}`, `--storage.path=${join(folder, 'data')}`],
      ...['--cluster.listen-address=', `--web.listen-address=127.0.0.1:${port}`],
    ],
    env: { SSL_CERT_FILE: selfSigned.certFile },
    onLine: (line) => lines.push(line),
  });
  onTestFinished(() => program.stop());
  const get = (path: string) => fetch(`${url}${path}`).catch(() => undefined);
  await until('Alertmanager is ready', async () => (await get('/-/ready'))?.ok);
  /** As Prometheus sends them: again and again while they fire, and once when they are over. */
  const send = async (alerts: Record<string, string>[], fields: Record<string, string> = {}) => {
    const body = alerts.map((labels) => ({
      labels,
      annotations: { summary: `This is ${labels['alertname']}.` },
      ...fields,
    }));
    const { status } = await fetch(`${url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
  };
  return { url, lines, get, send };
};

it('pages sooner than it sends tickets, and the heart beats every 4 minutes', async () => {
  const installation = anInstallation(mailSettings);
  await installation.call();
  const { route } = parse(readFileSync(installation.written, 'utf8')) as {
    route: { routes: object[] };
  };
  expect(route).toMatchObject({ group_interval: '1m', repeat_interval: '12h' });
  expect(route).not.toHaveProperty('group_wait');
  expect(route.routes[0]).toMatchObject({ group_wait: '0s', repeat_interval: '4m' });
  expect(route.routes.at(-1)).toMatchObject({
    ...{ group_wait: '10s', group_interval: '20s', repeat_interval: '1h' },
  });
});

/** The alerts of a message to a webhook. */
const alertsOf = (body: string) =>
  (JSON.parse(body) as { alerts: { status: string; labels: Record<string, string> }[] }).alerts;

const watchdog = { alertname: 'PaymentsWatchdog', severity: 'none' };

// Faster than ten times, a page would not come clearly before a ticket on a busy machine. So it waits for real seconds.
describe('a real Alertmanager', () => {
  it('sends pages, tickets and heartbeats, and nothing that follows from another alert', async () => {
    const mail = await startMailServer({ user: 'payments', password: 'the-password' });
    onTestFinished(mail.stop);
    const outside = await anOutsideProgram();
    const installation = anInstallation(
      { ...mailSettings, SMTP_USER: 'payments', SMTP_PORT: String(mail.port) },
      {
        'smtp-password': 'the-password',
        'alerts-webhook-url': `${outside.url}/webhook`,
        'alerts-slack-url': `${outside.url}/slack`,
        'alerts-heartbeat-url': `${outside.url}/heartbeat`,
      },
    );
    const { url, lines, get, send } = await startAlertmanager(installation);
    const page = (alertname: string, more = {}) => ({ alertname, severity: 'page', ...more });
    const ticket = (alertname: string, more = {}) => ({ alertname, severity: 'ticket', ...more });
    await send([
      watchdog,
      page('PaymentsDependencyDown', { dependency: 'postgres', job: 'payments-worker' }),
      page('PaymentsSweeperStale'),
      page('PaymentsApiDown'),
      page('PaymentsProcessDown', { job: 'payments-api' }),
      page('PaymentsProcessDown', { job: 'payments-worker' }),
      page('PaymentsOutcomeUnknown'),
      page('PaymentsGatewayUnavailable', { gateway: 'zarinpal' }),
      ticket('PaymentsLowSuccessRate', { gateway: 'zarinpal' }),
      ticket('PaymentsLowSuccessRate', { gateway: 'payping' }),
      ticket('PaymentsRefund', { alert: 'refund_unknown' }),
    ]);

    const arrived = (where: string, name: string) =>
      outside.at(where).filter((body) => body.includes(`This is ${name}.`));
    const mailsOf = (name: string) =>
      mail.mails.filter(({ text: content }) => content.includes(`This is ${name}.`));
    const everywhere = (name: string) => () =>
      arrived('/webhook', name).length > 0 &&
      arrived('/slack', name).length > 0 &&
      mailsOf(name).length >= 2;
    for (const name of [
      'PaymentsApiDown',
      'PaymentsProcessDown',
      'PaymentsDependencyDown',
      'PaymentsOutcomeUnknown',
      'PaymentsRefund',
      'PaymentsLowSuccessRate',
    ])
      await until(`${name} arrives`, everywhere(name));
    // The tickets came later than pages do, so a page had its time.
    expect(arrived('/webhook', 'PaymentsSweeperStale')).toEqual([]);
    expect(mailsOf('PaymentsSweeperStale')).toEqual([]);
    expect(arrived('/webhook', 'PaymentsProcessDown').join()).toContain('"job":"payments-worker"');
    expect(arrived('/webhook', 'PaymentsProcessDown').join()).not.toContain('"job":"payments-api"');
    const [success = ''] = arrived('/webhook', 'PaymentsLowSuccessRate');
    expect(success).toContain('"gateway":"payping"');
    expect(success).not.toContain('"gateway":"zarinpal"');

    // A second one of a kind, and the end of both, while the first one goes on. By default each waits for 5 minutes.
    const further = [
      page('PaymentsDependencyDown', { dependency: 'temporal', job: 'payments-worker' }),
      page('PaymentsProcessDown', { instance: 'further', job: 'payments-worker' }),
      ticket('PaymentsRefund', { alert: 'refund_by_hand' }),
    ];
    const isTold = (status: string) => () => {
      const told = outside.at('/webhook').flatMap(alertsOf);
      return further.every((labels) =>
        told.some((alert) => alert.status === status && isDeepStrictEqual(alert.labels, labels)),
      );
    };
    await send(further);
    await until('the further alerts arrive', isTold('firing'), 100_000);
    await send(further, { endsAt: new Date().toISOString() });
    await until('their end arrives', isTold('resolved'), 100_000);

    const mails = mailsOf('PaymentsOutcomeUnknown');
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual([
      'night@shop.example',
      'ops@shop.example',
    ]);
    expect(mails[0]).toMatchObject({ from: 'payments@shop.example', login: 'payments' });
    expect(mails[0]?.text).toMatch(/^Subject: .*firing.* PaymentsOutcomeUnknown \(page\)/m);
    expect(mails[0]?.text).toContain('docs/operating/runbook.md, PaymentsOutcomeUnknown');

    // Only the heartbeat gets the watchdog, again and again, and nothing once Prometheus has ended: it waits in vain.
    const beats = () => outside.at('/heartbeat').length;
    await until('the heart beats', () => beats() >= 2);
    await send([watchdog], { endsAt: new Date().toISOString() });
    const groupsOf = async () => (await get('/api/v2/alerts/groups'))?.text();
    await until(
      'the watchdog has ended',
      async () => (await groupsOf())?.includes('PaymentsWatchdog') === false,
    );
    const last = beats();
    const endedAt = performance.now();
    const said = outside.at('/heartbeat').flatMap(alertsOf);
    expect(new Set(said.map(({ status }) => status))).toEqual(new Set(['firing']));
    expect(arrived('/webhook', 'PaymentsWatchdog')).toEqual([]);

    // A receiver that is away gets it later.
    await outside.close();
    await send([page('PaymentsAmountMismatch', { gateway: 'cards' })]);
    await until('the webhook was tried', async () =>
      /notification_requests_failed_total\{integration="webhook"[^}]*\} [1-9]/.test(
        (await (await get('/metrics'))?.text()) ?? '',
      ),
    );
    expect(arrived('/webhook', 'PaymentsAmountMismatch')).toEqual([]);
    await outside.open();
    await until('it arrives later', everywhere('PaymentsAmountMismatch'));
    // A heart that beats on does so within 12 s, and nothing says sooner that it does not.
    await sleep(Math.max(0, endedAt + 15_000 - performance.now()));
    expect(beats()).toBe(last);

    const isTest = (body: string) => body.includes('This is a test. Nothing is wrong.');
    for (const times of [1, 2]) {
      await expect(installation.call(['--test'], url)).resolves.toMatchObject({ code: 0 });
      await until(
        'the test arrives everywhere',
        () =>
          ['/webhook', '/slack'].every((path) => outside.at(path).filter(isTest).length >= times) &&
          mail.mails.filter(({ text: content }) => isTest(content)).length >= 2 * times &&
          beats() >= last + times,
      );
    }
    const log = lines.join('\n');
    for (const secret of ['the-password', outside.url]) expect(log).not.toContain(secret);
    expect(log).not.toContain('level=ERROR');
  });
});
