import { expect, it } from 'vitest';
import { problemWithAccount } from '../../../gateways/adapters.ts';
import type { Capabilities, Driver, GatewayAdapter } from '../../../gateways/gateway.ts';
import { driverNames, findDriver } from '../../../gateways/registry.ts';
import type { Provider } from '../../fakes/server.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { adapterOf, type ProviderFixture } from '../../support/gateways/fixture.ts';

interface Facts extends Pick<Driver, 'capabilities'> {
  driver: Driver;
  /** With all of its credentials. */
  adapter: GatewayAdapter;
}

const yes = (has: unknown): string => (has ? 'yes' : '–');
type Word = string | false | undefined;
const either = (first: Word, second: Word): string =>
  [first, second].filter(Boolean).join(', ') || '–';

const durationOf = (ms: number): string =>
  ms < 86_400_000 ? `${ms / 60_000} min` : `${ms / 86_400_000} days`;

const numbers = { parallel: 'many', one_at_a_time: 'in turn', once: 'once' } as const;
const refundsOf = ({ refund, reversal }: Capabilities): string => {
  if (!refund) return reversal ? 'reversal' : '–';
  return [
    refund.partial ? 'parts' : 'whole',
    numbers[refund.several],
    ...(refund.windowMs === null ? [] : [durationOf(refund.windowMs)]),
    ...(refund.keyed ? ['keyed'] : []),
  ].join(', ');
};

/** What each provider does, as the driver and its adapter say it. */
const rows: [name: string, cell: (facts: Facts) => string][] = [
  [
    'Currencies',
    ({ capabilities: { currencies } }) =>
      currencies.size === 1 ? [...currencies.keys()].join() : String(currencies.size),
  ],
  ['Two steps', ({ capabilities }) => yes(capabilities.twoStepVerify)],
  ['`expire`', ({ adapter }) => yes(adapter.expire)],
  [
    'Notifications',
    ({ driver }) =>
      either(driver.notifications !== undefined && 'signed', driver.takesReports && 'report'),
  ],
  ['Return', ({ driver }) => either(driver.parseReturn && 'hint', driver.readProof && 'proof')],
  ['Refunds', ({ capabilities }) => refundsOf(capabilities)],
  [
    '`reverse`',
    ({ adapter, capabilities: { reversal } }) =>
      adapter.reverse && reversal ? durationOf(reversal.windowMs) : yes(adapter.reverse),
  ],
  ['`disputes`', ({ adapter }) => yes(adapter.disputes)],
  ['`book`', ({ adapter }) => yes(adapter.book)],
  ['Payouts', ({ adapter }) => either(adapter.payout && 'book', adapter.payouts && 'list')],
  [
    'Fees',
    ({ adapter, capabilities }) =>
      capabilities.reportsFees ? 'answers' : either(adapter.book && 'book', false),
  ],
];

const factsOf = async (name: string): Promise<Facts> => {
  // Each driver has its fixture in a file of its name.
  const module = (await import(`../../support/gateways/${name}.ts`)) as Record<string, unknown>;
  const { credentials, refunds, paths } = module[name] as ProviderFixture<Provider>;
  const kind = refunds?.kind ?? 'sandbox';
  const driver = findDriver(name)! as Driver;
  const baseUrl = paths && { baseUrl: 'http://127.0.0.1:1' };
  const account = { slug: 'account', kind, credentials: { ...credentials[kind], ...baseUrl } };
  // The adapter of an account that cannot work has every call.
  const problem = problemWithAccount(name, account, { allowLoopback: true });
  if (problem !== undefined) throw new Error(`${name}: ${problem}`);
  const adapter = adapterOf(name, account);
  return { driver, capabilities: driver.capabilities, adapter };
};

const all = await Promise.all(driverNames.map(factsOf));
const asLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The part of a page between two texts. */
const between = (page: string, from: string, to: string): string =>
  readProjectFile(page).split(from)[1]?.split(to)[0] ?? '';

it('the table of docs/adding-a-gateway.md has what each driver does: paste the lines below, and run prettier', () => {
  const table = [
    asLine(['', ...driverNames.map((name) => `\`${name}\``)]),
    asLine(['', ...driverNames].map(() => '---')),
    ...rows.map(([name, cell]) => asLine([name, ...all.map(cell)])),
  ];
  const found = between('docs/adding-a-gateway.md', '\n## Which provider does what\n', '\n## ')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .replaceAll(/ +/g, ' ')
        .replaceAll(/-+/g, '---')
        .replace(/^\| \| /, '|  | '),
    );
  expect(found.join('\n')).toBe(table.join('\n'));
});

const others = driverNames.filter((name) => name !== 'sandbox');
const having = (has: (facts: Facts) => unknown): string[] =>
  driverNames.filter((_, at) => has(all[at]!));

it.each([
  ['what it gets of a payer', 'docs/contract.md', 'has a place for: ', '. If', others],
  ['how long it keeps that', 'docs/payers-data.md', '**At the gateway**', '\n- ', others],
  [
    'the fees that it reports',
    'docs/accounts-reference.md',
    '\n## Fees that a gateway reports\n',
    '\nThe service stores',
    having(({ capabilities }) => capabilities.reportsFees),
  ],
  [
    'the payouts that it lists',
    'docs/accounts-reference.md',
    '\n## Payouts without a book\n',
    '\n## ',
    having(({ adapter }) => adapter.payouts),
  ],
  ['itself', 'CHANGELOG.md', '# Changelog\n', '\0', others],
])('of each gateway, %s stands in %s', (_, page, from, to, names) => {
  const part = between(page, from, to);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`, 'i').test(part))).toEqual([]);
});

it.each(others)('docs/operating/gateway-accounts.md says what to try first at %s', (name) => {
  const page = 'docs/operating/gateway-accounts.md';
  const item = between(page, `\n- \`${name}\`:`, '\n- `');
  const [heading = name] =
    new RegExp(`(?<=\n## )${name}(?=\n)`, 'i').exec(readProjectFile(page)) ?? [];
  const text = item + between(page, `\n## ${heading}\n`, '\n## ');
  expect(text.replaceAll(/\s+/g, ' ')).toMatch(
    /(not tried|nobody has tried|untried)[^.]* account\. Try (first|with)/i,
  );
});
