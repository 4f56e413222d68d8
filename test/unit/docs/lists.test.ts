import { describe, expect, it } from 'vitest';
import {
  createSweeperTasks,
  type Deps as SweeperDeps,
} from '../../../activities/sweeper-tasks/index.ts';
import { commands } from '../../../admin/cli/program.ts';
import type { Deps as ConsoleDeps } from '../../../admin/console/request.ts';
import { createRoutes } from '../../../admin/console/routes.ts';
import { accountDifferences } from '../../../contract/account-difference.ts';
import { type Alert, alerts } from '../../../contract/alerts.ts';
import { CreatePayment } from '../../../contract/create-payment.ts';
import { disputeEventKinds } from '../../../contract/dispute-event.ts';
import { paymentEventKinds } from '../../../contract/event.ts';
import { failureReasons, nextSteps } from '../../../contract/failure-codes.ts';
import { languages } from '../../../contract/languages.ts';
import { refundEventKinds } from '../../../contract/refund-event.ts';
import { driverNames } from '../../../gateways/registry.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';
import { adapterCalls } from '../../support/gateways/adapter-calls.ts';

const languageNames = new Intl.DisplayNames('en', { type: 'language' });

/** The part of a page between two texts. */
const between = (page: string, from: string, to: string): string =>
  readProjectFile(page).split(from)[1]?.split(to)[0] ?? '';

const namesIn = (text: string, name = /`(\w+)\??`/g): string[] =>
  [...text.matchAll(name)].map(([, found = '']) => found);

const sweeperTasks = Object.keys(createSweeperTasks({} as SweeperDeps));

it.each([
  ['task of the sweeper', 'docs/operating/temporal.md', '\n## The sweeper\n', sweeperTasks],
  ['event of a payment', 'docs/webhooks.md', '\n## Before an event', paymentEventKinds],
  ['event of a refund', 'docs/refunds.md', '\n## Events\n', refundEventKinds],
  ['event of a dispute', 'docs/refunds.md', '\n### Events of disputes\n', disputeEventKinds],
])('each %s stands on %s', (_, page, heading, members) => {
  expect(namesIn(between(page, heading, '\n## '), /`([\w.]+)`/g)).toEqual(
    expect.arrayContaining([...members]),
  );
});

it('the runbook and the page of refunds name each alert of a log line', () => {
  const parts = [
    between('docs/operating/runbook.md', '\n## Outcomes\n', '\n## Load\n'),
    between('docs/operating/refunding.md', '\n## Alerts of refunds\n', '\n## '),
  ].join('\n');
  expect(namesIn(parts, /[`"](\w+)[`"]/g)).toEqual(expect.arrayContaining([...alerts]));
});

it('docs/contract.md lists the failure codes', () => {
  const list = between('docs/contract.md', '**Failure codes**', '. `failure_reason`');
  expect(namesIn(list.split(':')[1] ?? '').toSorted()).toEqual(
    Object.keys(failureReasons).toSorted(),
  );
});

it('docs/contract.md names each field of a create', () => {
  const part = between('docs/contract.md', '\n### Create\n', '\n## 4. Errors\n');
  expect(namesIn(part, /`(\w+)[`:]/g)).toEqual(
    expect.arrayContaining(Object.keys(CreatePayment.shape)),
  );
});

it('docs/contract.md lists the next steps', () => {
  const list = between('docs/contract.md', '**Next steps** are', '. [Codes]');
  expect(namesIn(list).filter((name) => name !== 'next_step')).toEqual([...nextSteps]);
});

it("docs/contract.md lists the languages of payers' pages", () => {
  const list = between('docs/contract.md', "Payers' pages are in ", ':');
  expect(list.split(/, | and /)).toEqual(languages.map((each) => languageNames.of(each)));
});

it('docs/adding-a-gateway.md lists the calls of the adapter', () => {
  const list = between('docs/adding-a-gateway.md', '\n## The adapter\n', '\nThe rules');
  const heads = [...list.matchAll(/^- ([^:]+):/gm)].map(([, head]) => head).join();
  expect(namesIn(heads).toSorted()).toEqual(Object.keys(adapterCalls).toSorted());
});

it('docs/operating/gateway-accounts.md has the drivers, in the order of the code', () => {
  const list = between('docs/operating/gateway-accounts.md', '\nThe drivers:\n', '\n## ');
  const listed = [...list.matchAll(/^- `(\w+)`:/gm)].map(([, name]) => name);
  expect(['sandbox', ...listed]).toEqual(driverNames);
});

it('docs/operating/differences.md has a section for each kind, in the order of the code', () => {
  const page = readProjectFile('docs/operating/differences.md');
  const sections = [...page.matchAll(/^## (\w)(.+)\n\n`(\w+)`:/gm)].map(
    ([, first = '', rest = '', kind]) => [kind, first.toLowerCase() + rest],
  );
  expect(sections).toEqual(Object.entries(accountDifferences));
});

/** The rules that fire for an event by another metric than the count of its log lines. */
const otherRules: Partial<Record<Alert, string>> = {
  amount_mismatch: 'PaymentsAmountMismatch',
  deliveries_overdue: 'PaymentsWebhooksOverdue',
  merchant_configuration: 'PaymentsMerchantConfiguration',
};

it.each(alerts)('a rule of deploy/alerts.yml fires for the alert %s', (name) => {
  const rules = readProjectFile('deploy/alerts.yml');
  const counted = [...rules.matchAll(/[{,]alert=~?"([^"]+)"/g)].map(([, pattern]) => pattern);
  const rule = otherRules[name];
  if (rule === undefined) expect(name).toMatch(new RegExp(`^(?:${counted.join('|')})$`));
  else expect(rules).toContain(`- alert: ${rule}\n`);
});

describe('somebody writes', () => {
  const sources = projectFiles()
    .filter((path) => /^(activities|api|postgres)\/.+\.ts$/.test(path))
    .map(readProjectFile);

  it.each(alerts)('the alert %s', (name) => {
    const writes = new RegExp(`\\balert(: |\\(.*, )'${name}'|'${name}' satisfies Alert\\b`);
    expect(sources.some((text) => writes.test(text))).toBe(true);
  });

  const tests = projectFiles()
    .filter((path) => /^test\/(unit|integration)\/(activities|api)\/.+\.test\.ts$/.test(path))
    .map(readProjectFile);

  it.each(alerts)('a test that expects the alert %s', (name) => {
    expect(tests.some((text) => new RegExp(`\\b${name}\\b`).test(text))).toBe(true);
  });

  it.each(Object.keys(accountDifferences))('the difference %s', (kind) => {
    const writers = sources.filter((text) => text.includes('insert into account_differences'));
    expect(writers.some((text) => text.includes(`'${kind}'`))).toBe(true);
  });
});

describe('docs/console.md', () => {
  const routes = createRoutes({ baseUrl: 'http://console.localhost' } as ConsoleDeps);

  it('lists what operators and admins may do', () => {
    const items = between('docs/console.md', '\n## Changes\n', '\n## ')
      .replaceAll('\n  ', ' ')
      .matchAll(/^- (?:`(\/\w+)`|Others): (.*?)(?:admins (.*))?$/gm);
    const listed = [...items].flatMap(([, under = '', operator = '', admin = '']) =>
      Object.entries({ operator, admin }).flatMap(([role, cell]) =>
        namesIn(cell, /`([\w/-]+)`/g).map(
          (name) => `${role} ${name.startsWith('/') ? name : `${under}/${name}`}`,
        ),
      ),
    );
    const actions = routes
      .filter(({ role }) => role === 'operator' || role === 'admin')
      .map(({ role, path }) => `${role} ${path.replaceAll(/\/:\w+/g, '')}`);
    expect(listed.toSorted()).toEqual([...new Set(actions)].toSorted());
  });

  /** Where the console does what a command does, unless an address has the words of the command. */
  const twins: Readonly<Record<string, string>> = {
    'accounts days': '/accounts',
    'accounts month': '/accounts',
    'accounts payout': '/accounts/payouts/:gateway/:payout',
    'applications create': '/create-application',
    'applications update': '/applications/:slug/webhook-url',
    'console add': '/invite',
    'console login': '/people/:name/link',
    'console logins': '/people',
    'console logout': '/people/:name/end',
    'console people': '/people',
    'console remove': '/people/:name/remove',
    'export month': '/accounts/month/file',
    'export movements': '/accounts/file',
    'export payout': '/accounts/payouts/:gateway/:payout/file',
    'gateways update': '/gateways/:slug/credentials',
    'links create': '/create-link',
    'refunds confirm-above': '/refunds/rules/change',
    'refunds create': '/payments/:id/refund/give',
    'refunds limit': '/applications/:slug/refund-limit',
    'refunds settle': '/refunds/:id/succeeded',
    'webhook test': '/applications/:slug/test-webhook',
  };

  it('lists the commands that the console lacks', () => {
    const paths = routes.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(Object.values(twins)));
    const lines = commands.flatMap((one) =>
      'commands' in one
        ? one.commands.map(({ usage }) => `${one.name} ${usage.split(' ')[0]}`)
        : one.usage,
    );
    const lacking = lines.filter((line) => {
      const words = line.split(' ').filter((word) => !['find', 'list', 'show'].includes(word));
      return (
        !(line in twins) &&
        !paths.some((path) => words.every((word) => path.split('/').includes(word)))
      );
    });
    const sentence = between('docs/console.md', 'The command line alone has ', '.');
    expect(namesIn(sentence, /`(\w+(?: \w[\w-]*)?)`/g).toSorted()).toEqual(lacking.toSorted());
  });
});
