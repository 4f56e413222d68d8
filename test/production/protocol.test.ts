import { describe, expect, it } from 'vitest';
import { explore } from '../../protocol/explorer.ts';
import { parts } from '../../protocol/parts.ts';
import { domainsOf, toPromela } from '../support/protocol/promela.ts';
import { keepCheck } from '../support/protocol/kept-check.ts';
import { listTransitions, search, whyNoSpin } from '../support/protocol/spin.ts';
import { createWhole } from '../support/protocol/whole.ts';

const reason = whyNoSpin();
if (reason) console.log(`Spin does not check the protocol: ${reason}`);

const timeoutMs = 1_200_000;
const limits = { memoryMb: 8_000, tableBits: 26 };

const wholeInPromela = (...fault: Parameters<typeof createWhole>) => {
  const { whole, domains } = createWhole(...fault);
  return toPromela(whole, domains);
};

/** Without the restores of refunds, whose questions about eight variables at once are too long in C. */
const compared = parts.filter(({ name }) => name !== 'refund, restores');

describe.skipIf(reason !== undefined)('Spin', () => {
  it.for(compared)(
    'finds the transitions of the explorer: $name',
    { timeout: timeoutMs },
    (part, context) =>
      keepCheck(context, () => {
        const { states, edges } = explore(part);
        const promela = toPromela(part, domainsOf(states));
        const printed = states.map((state) => promela.print(state));
        const expected = new Set(
          edges.map(({ from, step, to }) =>
            [promela.steps.indexOf(step), printed[from], printed[to]].join(' '),
          ),
        );
        const found = listTransitions(promela);
        expect(found.size).toBe(expected.size);
        expect([...found].filter((line) => !expected.has(line)).slice(0, 5)).toEqual([]);
        return `${part.name}: ${found.size} transitions`;
      }),
  );

  it('finds no broken rule in all parts at once', { timeout: timeoutMs }, (context) =>
    keepCheck(context, () => {
      const { states, seconds, megabytes, isComplete, broken } = search(wholeInPromela(), limits);
      expect(broken).toBeUndefined();
      expect(isComplete).toBe(true);
      return `All parts at once: ${states} states, ${seconds} s, ${megabytes} MB`;
    }),
  );

  it('finds a planted fault in all parts at once', { timeout: timeoutMs }, (context) =>
    keepCheck(context, () => {
      const { broken } = search(wholeInPromela('no compare-and-set'), limits);
      expect(broken).toContain('a payment has one event, written with its outcome');
      return broken ?? '';
    }),
  );
});
