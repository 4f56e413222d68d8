import { expect, it } from 'vitest';
import { type Deps, reportOnPaymentHandler } from '../../../../api/gateways/reports.ts';
import type { AnyRequest } from '../../../../api/http/route.ts';
import { PaymentError } from '../../../../contract/errors.ts';
import { refundId } from '../../../../contract/ids.ts';
import type { ReportedPayment } from '../../../../postgres/payments/payments.ts';
import { createApiMetrics, createRegistry } from '../../../../telemetry/metrics.ts';
import { aPayment } from '../../../support/data/payments.ts';

const key = 'k'.repeat(32);

/** A report. @returns what the handler did, and the code of its refusal */
const reported = async (
  known: Partial<ReportedPayment> | undefined,
  { given = key, refunds = [] as string[] } = {},
) => {
  const calls: string[] = [];
  const payment = { ...aPayment(), payerSent: true, opened: true, reportKey: key, ...known };
  const deps: Deps = {
    payments: { getForReport: async () => known && payment },
    refunds: { listToRecheck: async () => refunds },
    disputes: { requestLook: async () => void calls.push('look') },
    workflows: {
      recheck: async ({ refundId: refund }) =>
        void calls.push(refund === undefined ? 'recheck' : `recheck ${refund}`),
      recheckLatePayment: async () => void calls.push('search'),
    },
    unverified: { hit: () => void calls.push('count'), isAtLimit: () => false },
    reports: { hit: () => undefined },
    metrics: createApiMetrics(createRegistry()),
    logger: { info() {} },
  };
  const request: Pick<AnyRequest, 'params' | 'address' | 'refuse'> = {
    params: { payment_id: payment.id, report_key: given },
    address: '192.0.2.1',
    refuse: (code) => new PaymentError(code),
  };
  // The fields that the handler reads.
  const answer = reportOnPaymentHandler(deps)(request as AnyRequest);
  const code = await answer.then(
    () => undefined,
    (error: PaymentError) => error.code,
  );
  return { calls, code, id: payment.id };
};

it.each<[string, Partial<ReportedPayment>, string[]]>([
  ['an open payment', {}, ['recheck']],
  ['a payment that is processing', { status: 'processing' }, ['recheck']],
  ['an expired payment', { status: 'expired' }, ['search']],
  ['a failed payment', { status: 'failed' }, ['search']],
  ['an open payment without a recorded checkout', { payerSent: false }, ['recheck']],
  ['a payment that is not opened', { opened: false }, []],
  ['a payment that ended without an opening', { opened: false, status: 'failed' }, []],
])('a report on %s has this effect: %j %j', async (_, known, expected) => {
  expect(await reported(known)).toMatchObject({ calls: expected, code: undefined });
});

it('a report on a paid payment has its refunds and its disputes looked at', async () => {
  const { calls } = await reported({ status: 'paid' }, { refunds: ['REFUND_1', 'REFUND_2'] });
  expect(calls).toEqual(['recheck REFUND_1', 'recheck REFUND_2', 'look']);
  const { calls: without, id } = await reported({ status: 'paid' });
  expect(without).toEqual([`recheck ${refundId(['sandbox', id])}`, 'look']);
});

it.each<[string, Partial<ReportedPayment> | undefined, string]>([
  ['another key', {}, 'l'.repeat(32)],
  ['a part of the key', {}, key.slice(1)],
  ['a longer key', {}, `${key}k`],
  ['characters of more bytes', {}, 'é'.repeat(16)],
  ['any key for a payment without one', { reportKey: null }, key],
  ['an empty key for a payment without one', { reportKey: null }, ''],
  ['a key for a payment that does not exist', undefined, key],
])('a report with %s is counted and refused', async (_, known, given) => {
  expect(await reported(known, { given })).toMatchObject({ calls: ['count'], code: 'NOT_FOUND' });
});
