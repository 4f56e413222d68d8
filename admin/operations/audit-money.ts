import { formatMoney } from '../../contract/money.ts';
import type { AuditFacts, AuditRecord } from '../../postgres/audit-log.ts';

/** Facts in minor units, and the fact that names their currency. */
const currencyOf = {
  amount: 'currency',
  above: 'currency',
  per_day: 'currency',
  taken_amount: 'taken_currency',
} as const;
const amounts = Object.entries(currencyOf);

type Changed = Pick<AuditRecord, 'before' | 'after'>;

/** The facts of a record for people: `310.00 EUR` instead of minor units and a currency. */
export const readableFacts = (record: Pick<AuditRecord, 'subject'> & Changed): Changed => {
  const sides = [record.before, record.after];
  const factOf = (name: string) => record.after?.[name] ?? record.before?.[name];
  const [, ofSubject] = /^currency:(.+)$/.exec(record.subject) ?? [];
  const money = amounts
    .map(([name, by]) => ({ name, by, currency: factOf(by) ?? ofSubject }))
    .filter(({ name }) => sides.some((facts) => typeof facts?.[name] === 'number'));

  const read = (facts: AuditFacts | null): AuditFacts | null => {
    if (facts === null) return null;
    const readable: Record<string, AuditFacts[string]> = { ...facts };
    for (const { name, by, currency } of money) {
      const amount = facts[name];
      if (typeof currency !== 'string') continue;
      if (typeof amount === 'number') readable[name] = formatMoney({ amount, currency });
      delete readable[by];
    }
    // Each payment's currency decides what it is.
    if (typeof facts['feeFixed'] === 'number')
      readable['feeFixed'] = `${facts['feeFixed']} minor units`;
    return readable;
  };
  return { before: read(record.before), after: read(record.after) };
};
