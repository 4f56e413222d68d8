import { InvalidArgumentError, type Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../../admin/cli/program.ts';
import type { Operations } from '../../../../admin/operations/operations.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';

const specs = commands.flatMap((each) =>
  'commands' in each
    ? each.commands.map((spec) => ({ name: `${each.name} ${spec.usage}`, spec }))
    : [{ name: each.usage, spec: each }],
);
const options = specs.flatMap(({ name, spec }) =>
  (spec.options ?? []).map((option): [string, Option] => [`${name} ${option.flags}`, option]),
);
const parse = (option: Option, text: string): unknown => option.parseArg?.(text, undefined);
const takes = (option: Option, text: string): boolean => {
  try {
    return parse(option, text) !== undefined;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return false;
    throw error;
  }
};
const numeric = options.filter(([, option]) => takes(option, '7'));

it('finds the options that take numbers', () => {
  expect(numeric.length).toBeGreaterThan(10);
});

it('takes a number in digits alone, for each of them', () => {
  const wrong = '07 +7 -7 7e0 0x7 7,0 7_0 1e2 ٧ ７ 7.000 Infinity NaN'.split(' ');
  const all = ['', ' 7', '7 ', '\t7', '7\n', ...wrong];
  const taken = numeric.flatMap(([name, option]) =>
    all.filter((text) => takes(option, text)).map((text) => [name, text]),
  );
  expect(taken).toEqual([]);
});

/** What reads an option for commands. */
const readers: Readonly<Record<string, readonly string[]>> = {
  amount: ['amountIn'],
  application: ['rightsOf', 'ownerOf'],
  limit: ['list'],
  minorUnits: ['amountIn'],
  rate: ['replayAll'],
  reason: ['replayAll'],
  role: ['rightsOf'],
  test: ['ownerOf'],
};

it('reads each option of a command', () => {
  const unread = specs.flatMap(({ name, spec }) => {
    const source = Object.values(spec)
      .filter((part) => typeof part === 'function')
      .join('\n');
    const isRead = (by: string) => new RegExp(`\\b${by}\\b`).test(source);
    return (spec.options ?? [])
      .map((option) => option.attributeName())
      .filter((read) => ![read, ...(readers[read] ?? []), 'settingsIn'].some(isRead))
      .map((read) => `${name}: ${read}`);
  });
  expect(unread).toEqual([]);
});

it('requires each option with a value, or says what counts without it', () => {
  const unclear = options.filter(
    ([, { required, mandatory, defaultValue, description }]) =>
      required && !mandatory && defaultValue === undefined && !/\(default: .+\)$/.test(description),
  );
  expect(unclear.map(([name]) => name)).toEqual([]);
});

describe('an amount', () => {
  const payment = {
    id: 'PAY_1',
    status: 'paid',
    currency: 'EUR',
    amount: 1250,
    amountRefunded: 0,
    amountRefundPending: 250,
    amountDisputed: 0,
  };
  const made: unknown[] = [];
  // The commands call nothing else.
  const operations = {
    payments: { get: async () => ({ payment }) },
    refunds: {
      findProblem: async (_: string, { amount }: { amount: number }) =>
        amount === 1 ? 'The gateway gives back 0.50 EUR or more.' : null,
      overRule: async () => undefined,
      create: async (_: string, wanted: { amount: number }) => {
        made.push(wanted.amount);
        return { refund: { id: 'REFUND_1', currency: 'EUR', ...wanted }, toConfirm: false };
      },
      setLimit: async (_: string, { perDay }: { perDay: number | null }) => void made.push(perDay),
      setApprovalAbove: async (_: string, above: number | null) => void made.push(above),
    },
  } as unknown as Operations;
  const run = (line: readonly string[], answer?: string) => {
    made.length = 0;
    return runLine(() => operations, line, { ...(answer !== undefined && { answer }) });
  };
  const create = (amount: string) => ['refunds', 'create', 'PAY_1', '--amount', amount];
  const reason = ['--reason', 'a test'];

  it.each([
    ['--minor-units', '600', 600],
    ['--amount', '6.00 EUR', 600],
    ['--amount', '6 EUR', 600],
    ['--amount', '0.06 EUR', 6],
    ['--amount', '6,00 EUR', 600],
  ])(
    '%s %s is refunded as it is meant, and the question names it',
    async (flag, text, minorUnits) => {
      const line = ['refunds', 'create', 'PAY_1', flag, text];
      const { code, questions } = await run([...line, ...reason], 'yes');
      expect([code, made]).toEqual([0, [minorUnits]]);
      expect(questions).toEqual([
        expect.stringContaining(`${(minorUnits / 100).toFixed(2)} EUR of PAY_1 goes back`),
      ]);
    },
  );

  /** Runs it for each command that takes an amount. @returns what was not refused as wrong usage that names euros */
  const acceptedOf = async (amounts: readonly string[]) => {
    const accepted: string[] = [];
    for (const amount of amounts)
      for (const line of [
        [...create(amount), '--yes'],
        ['refunds', 'limit', 'shop', 'EUR', '--amount', amount],
        ['refunds', 'confirm-above', 'EUR', '--amount', amount],
      ]) {
        const { code, notes } = await run([...line, ...reason]);
        if (code !== 2 || made.length > 0 || !notes.includes('EUR'))
          accepted.push(`${line.join(' ')}: ${code} ${notes}`);
      }
    return accepted;
  };

  // test/unit/contract/money.test.ts has the other spellings of money.
  it('without its currency or of another one is wrong usage, and nothing goes back', async () => {
    const wrong = ['600', '', '6.000 EUR', '6.00 USD', '0.00 EUR', '600.00 JPY', '-6.00 EUR'];
    expect(await acceptedOf(wrong)).toEqual([]);
  });

  it('is no number of minor units, nor the other way round', async () => {
    for (const text of ['6.00', '6,00', '1e2', '0', '-5', ' 5', '6.00 EUR', '1000000000000', '']) {
      const line = ['refunds', 'create', 'PAY_1', '--minor-units', text, '--yes'];
      expect([(await run([...line, ...reason])).code, made], text).toEqual([2, []]);
    }
  });

  it('is given once', async () => {
    const both = [...create('6.00 EUR'), '--minor-units', '600', '--yes'];
    expect([(await run([...both, ...reason])).code, made]).toEqual([2, []]);
  });

  it.each([
    ['IRR', '500 IRR', 500],
    ['KWD', '1.005 KWD', 1005],
    ['KWD', '1 KWD', 1000],
    ['IRR', '500.00 IRR', null],
    ['KWD', '1.00 KWD', null],
  ])('counts decimals as %s has them: %s is %s', async (currency, amount, above) => {
    const line = ['refunds', 'confirm-above', currency, '--amount', amount, ...reason];
    const { code } = await run(line);
    expect([code, made]).toEqual(above === null ? [2, []] : [0, [above]]);
  });

  it('is what is left without the option, and the question names it', async () => {
    const { code, questions } = await run(['refunds', 'create', 'PAY_1', ...reason], 'yes');
    expect([code, made]).toEqual([0, [1000]]);
    expect(questions).toEqual([
      expect.stringContaining('10.00 EUR, everything that is left of PAY_1, goes back'),
    ]);
    expect((await run(['refunds', 'create', 'PAY_1', ...reason], 'no')).code).toBe(1);
    expect(made).toEqual([]);
  });

  it('asks nothing about money that the gateway does not give back', async () => {
    const line = ['refunds', 'create', 'PAY_1', '--amount', '0.01 EUR', ...reason];
    const { code, questions, notes } = await run(line, 'yes');
    expect([code, questions, made]).toEqual([1, [], []]);
    expect(notes).toContain('The gateway gives back');
  });
});

it.each(['accounts explain 07', 'accounts mend x', 'secrets retire shop 1e1'])(
  '%s is wrong usage',
  async (line) => {
    const { code } = await runLine(
      () => ({}) as Operations,
      [...words(line), '--reason', 'a test', ...(line.startsWith('secrets') ? ['--yes'] : [])],
    );
    expect(code).toBe(2);
  },
);
