import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { launch } from '../../../stack/processes.ts';
import { findGoProgram } from '../../../stack/programs/go.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { freePort } from '../../../stack/ports.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { aFolder, writeProgram } from '../../support/stack/support.ts';
import { until } from '../../support/until.ts';

// Alertmanager waits half a minute for other alerts of a group, and asks for changes once a minute.
vi.setConfig({ testTimeout: 300_000 });

const root = join(import.meta.dirname, '../../..');
const goProgram = (name: string) => () =>
  findGoProgram(
    {
      name,
      module: join(root, 'tools/alertmanager'),
      packagePath: `github.com/prometheus/alertmanager/cmd/${name}`,
    },
    thisMachine(),
  );
const amtool = useProgram(goProgram('amtool'));
const alertmanager = useProgram(goProgram('alertmanager'));
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
  const folder = aFolder();
  for (const name of ['deploy', 'secrets', 'bin']) mkdirSync(join(folder, name));
  copyFileSync(join(root, 'deploy/alerting.sh'), join(folder, 'deploy/alerting.sh'));
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  const none = ['smtp-password', 'alerts-webhook-url', 'alerts-slack-url', 'alerts-heartbeat-url'];
  const files = { ...Object.fromEntries(none.map((name) => [name, ''])), ...secrets };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, 'secrets', name), content);
  writeProgram(join(folder, 'bin/docker'), [
    `echo "$*" >> ${join(folder, 'docker-calls')}`,
    'case "$*" in',
    `  'compose run '*) shift 7; exec ${amtool()} "$1" "deploy/\${2##*/}" ;;`,
    `  'compose exec '*) shift 6; exec ${amtool()} "--alertmanager.url=$ALERTMANAGER" "$@" ;;`,
    'esac',
  ]);
  return {
    folder,
    written: join(folder, 'deploy/alertmanager.yml'),
    async call(args: string[] = [], url = '') {
      const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, ALERTMANAGER: url };
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

  it('names its options, and a folder without secrets', async () => {
    const installation = anInstallation(mailSettings);
    await expect(installation.call(['--tset'])).resolves.toMatchObject({
      code: 2,
      said: expect.stringContaining('Usage') as string,
    });
    writeFileSync(join(installation.folder, '.env'), '');
    await expect(installation.call()).resolves.toMatchObject({ code: 2 });
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
  ])('sends every alert of the rules to people by %s alone', async (_what, settings, secrets) => {
    const installation = anInstallation(settings, secrets);
    const { code, said } = await installation.call();
    expect(code, said).toBe(0);
    expect(said).toContain('alerts-heartbeat-url is empty');
    const config = readFileSync(installation.written, 'utf8');
    for (const secret of Object.values(secrets)) expect(config).not.toContain(secret.trim() + '\n');
    expect(config).not.toContain('hooks.example');
    expect(rules.length).toBeGreaterThan(25);
    for (const { alert = '', labels } of rules)
      await run(amtool(), [
        ...['config', 'routes', 'test', '--config.file', installation.written],
        `--verify.receivers=${alert === 'PaymentsWatchdog' ? 'heartbeat' : 'people'}`,
        ...[`alertname=${alert}`, `severity=${labels?.severity}`],
      ]);
  });
});

/** The requests that a program outside gets, on a port that stays the same while it is away. */
const anOutsideProgram = async () => {
  const posts: { path: string; body: string }[] = [];
  const port = await freePort();
  const listen = async () => {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        posts.push({ path: request.url ?? '', body });
        // As Slack answers.
        response.end('ok');
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await listen();
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  expect((server.address() as AddressInfo).port).toBe(port);
  return {
    url: `http://127.0.0.1:${port}`,
    at: (path: string) => posts.filter((post) => post.path === path).map(({ body }) => body),
    close,
    async open() {
      server = await listen();
    },
  };
};

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
    const { code, said } = await installation.call();
    expect(code, said).toBe(0);
    const { folder, written } = installation;
    // The folder of Compose for secrets.
    const config = readFileSync(written, 'utf8').replaceAll(
      '/run/secrets',
      join(folder, 'secrets'),
    );
    writeFileSync(written, config);
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
    const page = (alertname: string, more = {}) => ({ alertname, severity: 'page', ...more });
    const ticket = (alertname: string, more = {}) => ({ alertname, severity: 'ticket', ...more });
    const watchdog = { alertname: 'PaymentsWatchdog', severity: 'none' };
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
      await until(`${name} arrives`, everywhere(name), 120_000);
    // The tickets came after half a minute, so a page had its time.
    expect(arrived('/webhook', 'PaymentsSweeperStale')).toEqual([]);
    expect(mailsOf('PaymentsSweeperStale')).toEqual([]);
    expect(arrived('/webhook', 'PaymentsProcessDown').join()).toContain('"job":"payments-worker"');
    expect(arrived('/webhook', 'PaymentsProcessDown').join()).not.toContain('"job":"payments-api"');
    const [success = ''] = arrived('/webhook', 'PaymentsLowSuccessRate');
    expect(success).toContain('"gateway":"payping"');
    expect(success).not.toContain('"gateway":"zarinpal"');

    const mails = mailsOf('PaymentsOutcomeUnknown');
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual([
      'night@shop.example',
      'ops@shop.example',
    ]);
    expect(mails[0]).toMatchObject({ from: 'payments@shop.example', login: 'payments' });
    expect(mails[0]?.text).toMatch(/^Subject: .*firing.* PaymentsOutcomeUnknown \(page\)/m);
    expect(mails[0]?.text).toContain('docs/operating/runbook.md, PaymentsOutcomeUnknown');

    // Only the heartbeat gets the watchdog, and is not told when Prometheus has ended: it waits in vain.
    expect(outside.at('/heartbeat')).toHaveLength(1);
    await send([watchdog], { endsAt: new Date().toISOString() });
    const groupsOf = async () => (await get('/api/v2/alerts/groups'))?.text();
    await until(
      'the watchdog has ended',
      async () => (await groupsOf())?.includes('PaymentsWatchdog') === false,
      180_000,
    );
    expect(outside.at('/heartbeat')).toHaveLength(1);
    expect(arrived('/webhook', 'PaymentsWatchdog')).toEqual([]);

    // A receiver that is away gets it later.
    await outside.close();
    await send([page('PaymentsAmountMismatch', { gateway: 'cards' })]);
    await until(
      'the webhook was tried',
      async () =>
        /notification_requests_failed_total\{integration="webhook"[^}]*\} [1-9]/.test(
          (await (await get('/metrics'))?.text()) ?? '',
        ),
      120_000,
    );
    expect(arrived('/webhook', 'PaymentsAmountMismatch')).toEqual([]);
    await outside.open();
    await until('it arrives later', everywhere('PaymentsAmountMismatch'), 180_000);

    const isTest = (body: string) => body.includes('This is a test. Nothing is wrong.');
    for (const times of [1, 2]) {
      await expect(installation.call(['--test'], url)).resolves.toMatchObject({ code: 0 });
      await until(
        'the test arrives everywhere',
        () =>
          ['/webhook', '/slack'].every((path) => outside.at(path).filter(isTest).length >= times) &&
          mail.mails.filter(({ text: content }) => isTest(content)).length >= 2 * times &&
          outside.at('/heartbeat').length >= 1 + times,
        120_000,
      );
    }
    const log = lines.join('\n');
    for (const secret of ['the-password', outside.url]) expect(log).not.toContain(secret);
    expect(log).not.toContain('level=ERROR');
  });
});
