import { expect, it } from 'vitest';
import type { BookEntry } from '../../../../contract/book-entry.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { createAccountComparison } from '../../../../postgres/accounts/comparison.ts';
import { createGatewayEntries } from '../../../../postgres/accounts/gateway-entries.ts';
import { writePayments } from '../../../support/data/payments.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const { sql, addGateway } = await forFile(startRecords());

const day = '2026-11-20';
const at = new Date(`${day}T12:00:00Z`);

/** A charge that names the payment, and refunds that name its number at the gateway alone. */
const entriesOf = (intent: string, id: string): Record<'charge' | 'refund', BookEntry> => {
  const shared = { at, currency: 'EUR', fee: null, refundId: null };
  const ofIntent = { reference: null, trackingCode: intent };
  return {
    charge: {
      ...shared,
      ...{ id: `txn_ch_${intent}`, source: `ch_${intent}` },
      kind: 'payment',
      amount: 1250,
      payment: { ...ofIntent, id },
    },
    refund: {
      ...shared,
      ...{ id: `txn_re_${intent}`, source: `re_${intent}` },
      kind: 'refund',
      amount: -1250,
      payment: { ...ofIntent, id: null },
    },
  };
};

it.each([
  ['on one page', (charge: BookEntry, refund: BookEntry) => [[refund, charge]]],
  ['before its payment', (charge: BookEntry, refund: BookEntry) => [[refund], [charge]]],
  ['after its payment', (charge: BookEntry, refund: BookEntry) => [[charge], [refund]]],
  ['again', (charge: BookEntry, refund: BookEntry) => [[refund], [charge], [refund], [charge]]],
])('finds the payment that was never paid of a refund that is listed %s', async (name, pagesOf) => {
  const gateway = `stripe-${name.replaceAll(' ', '-')}`;
  const account = { gateway, day };
  await addGateway('stripe', { slug: gateway });
  const id = newPaymentId();
  await writePayments(sql, [{ id, gateway, status: 'expired', test: false }]);
  const { charge, refund } = entriesOf(`pi_${gateway}`, id);
  for (const page of pagesOf(charge, refund))
    await createGatewayEntries(sql).recordEntries(account, page);

  await createAccountComparison(sql).findDifferences(account);
  const differences = await sql`
    select kind, payment_id from account_differences where gateway = ${gateway} order by kind`;
  expect(differences).toEqual([
    { kind: 'captured_not_paid', payment_id: id },
    { kind: 'reversal_unknown', payment_id: id },
  ]);
});
