import { describe, expect, it } from 'vitest';
import type { startSep } from '../../fakes/sep.ts';
import { startProviders } from '../../support/service/providers.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const { journey } = await service.anApplication();
// The provider of this name.
const bank = providers.of('sep') as Awaited<ReturnType<typeof startSep>>;

type Sent = Awaited<ReturnType<typeof providers.sent>>;
const sent = (): Promise<Sent> => providers.sent(journey, 'sep');
const paidAtBank = async (): Promise<Sent> => {
  const payment = await sent();
  bank.pay(payment.reference);
  return payment;
};
const comeBack = ({ reference }: Sent) => providers.comeBack(journey, 'sep', reference);
/** The fields of a payer's return, with others. */
const forge = ({ reference }: Sent, fields: Record<string, string>) => {
  const { method, url, fields: own } = bank.back(reference);
  return journey.call(method, url, { body: new URLSearchParams({ ...own, ...fields }) });
};
const statusOf = async ({ id }: Sent) => (await journey.get(id)).json['status'];
const ends = (payment: Sent) =>
  until(`${payment.id} ends`, async () => {
    const status = await statusOf(payment);
    return status !== 'pending' && status !== 'processing' && status;
  });
const entryOf = ({ reference }: Sent) => providers.entry('sep', reference);

describe('a payer of SEP', () => {
  it.each(['form', 'query'] as const)(
    'comes back with a %s, and the RefNum is the tracking code',
    async (how) => {
      bank.returnBy(how);
      const payment = await paidAtBank();
      const back = await comeBack(payment);
      bank.returnBy('form');
      expect(back.headers.get('location')).toContain('status=paid');
      const { trackingCode, verified } = entryOf(payment);
      expect((await journey.get(payment.id)).json).toMatchObject({
        ...{ status: 'paid', tracking_code: trackingCode, card_pan_masked: '502229******1234' },
      });
      expect(verified).toBe(1);
    },
  );

  it('never comes back, and the receipt of the token tells the sweeper', async () => {
    const payment = await paidAtBank();
    await service.sql`
      update payments set checkout_at = checkout_at - interval '3 minutes' where id = ${payment.id}`;
    await sweepNow(service.client);
    expect(await ends(payment)).toBe('paid');
    expect(entryOf(payment).verified).toBe(1);
  });

  it('is paid once when the answer of the verification comes too late', async () => {
    const payment = await paidAtBank();
    bank.fail('lost', /VerifyTransaction/);
    await comeBack(payment);
    expect(entryOf(payment)).toMatchObject({ state: 'Verified', verified: 1 });
    // The receipt is gone, and the payment knows its RefNum. Equal requests share an answer for a moment.
    const { json } = await until('an answer', async () => {
      const answer = await journey.verify(payment.id);
      return answer.status === 200 && answer;
    });
    expect(json).toMatchObject({
      ...{ status: 'paid', tracking_code: entryOf(payment).trackingCode },
    });
    expect(entryOf(payment).verified).toBe(1);
  });

  it('pays after the end, and SEP returns the money', async () => {
    const payment = await sent();
    await skipAllTime(service.client, payment.id);
    expect(await ends(payment)).toBe('expired');
    bank.pay(payment.reference);
    const back = await comeBack(payment);
    expect(back.headers.get('location')).toContain('status=expired');
    const [late] = await until('the money is found', async () => {
      const rows = await service.sql`
        select result from late_payments where payment_id = ${payment.id} and result is not null`;
      return rows.length > 0 && rows;
    });
    expect(late).toEqual({ result: 'returns' });
    expect(entryOf(payment)).toMatchObject({ verified: 0, reversed: 0 });
  });

  it('gets the whole amount back by a reversal', async () => {
    const payment = await paidAtBank();
    await comeBack(payment);
    const { json } = await refund(journey, payment.id);
    expect(await refundBecomes(journey, String(json['refund_id']), 'succeeded')).toMatchObject({
      amount: 150_000,
    });
    expect(entryOf(payment)).toMatchObject({ verified: 1, reversed: 1 });
  });
});

describe('a RefNum of SEP that the payer brings', () => {
  /** As SEP answers an hour after the opening, and after a verification. */
  const withoutReceipts = async (work: () => Promise<unknown>) => {
    bank.failAll(/receipt/, { body: { HasError: true, ErrorCode: 404, Data: null } });
    await work().finally(() => bank.failAll(/receipt/, undefined));
  };
  const proofOf = async ({ id }: Sent) => {
    const [row] = await service.sql`select return_proof from payments where id = ${id}`;
    return row?.['return_proof'];
  };

  it.each(['form', 'query'] as const)('by a %s pays where the receipt is gone', async (how) => {
    const payment = await paidAtBank();
    bank.returnBy(how);
    await withoutReceipts(() => comeBack(payment));
    bank.returnBy('form');
    expect(await proofOf(payment)).toBe(entryOf(payment).trackingCode);
    expect(await ends(payment)).toBe('paid');
    expect(entryOf(payment).verified).toBe(1);
  });

  it('from another payment that it has paid does not pay where the receipt is gone', async () => {
    const [rich, poor] = [await paidAtBank(), await sent()];
    const RefNum = entryOf(rich).trackingCode;
    await comeBack(rich);
    expect(await statusOf(rich)).toBe('paid');
    const calls = bank.calls.length;
    await withoutReceipts(() => forge(poor, { State: 'OK', Status: '2', RefNum }));
    expect(await proofOf(poor)).toBe(RefNum);
    expect(await statusOf(poor)).toBe('processing');
    const asked = bank.calls.slice(calls).map(({ json }) => json);
    // For the receipt of the token, and for that of the RefNum. Another payment has claimed it.
    expect(asked).toMatchObject([{ Token: poor.reference }, { RefNum }]);
  });

  it('with the token of another payment is not kept', async () => {
    const [rich, poor] = [await paidAtBank(), await sent()];
    const RefNum = entryOf(rich).trackingCode;
    await forge(poor, { Token: rich.reference, RefNum });
    await forge(poor, { ResNum: rich.id, RefNum });
    expect(await proofOf(poor)).toBeNull();
  });
});

describe('a RefNum of SEP', () => {
  it('of another payment pays nothing, whoever brings it', async () => {
    const [rich, poor] = [await paidAtBank(), await sent()];
    const RefNum = entryOf(rich).trackingCode;
    for (let times = 0; times < 2; times += 1) {
      const back = await forge(poor, { State: 'OK', Status: '2', RefNum });
      expect(back.headers.get('location')).not.toContain('status=paid');
      // The payer has come back, so the service waits for the money.
      expect(await statusOf(poor)).toBe('processing');
      await comeBack(rich);
      expect(await statusOf(rich)).toBe('paid');
    }
    expect((await journey.verify(poor.id)).json).toMatchObject({ status: 'processing' });
    expect(entryOf(rich).verified).toBe(1);
    await skipAllTime(service.client, poor.id);
    expect(await ends(poor)).toBe('expired');
  });

  it('pays one of two payments that have it at the same moment', async () => {
    const first = await paidAtBank();
    bank.repeatRefNum(first.reference);
    const second = await paidAtBank();
    const both = [first, second];
    await Promise.all(both.map(comeBack));
    // The other one fails, or has no outcome if its receipt has gone with the verification.
    await until('one is paid', async () =>
      (await Promise.all(both.map(statusOf))).includes('paid'),
    );
    for (const { id } of both) await journey.verify(id);
    const statuses = await Promise.all(both.map(statusOf));
    expect(statuses.filter((status) => status === 'paid')).toHaveLength(1);
    expect(entryOf(first).verified + entryOf(second).verified).toBe(1);
    const claims = await service.sql`
      select payment_id from gateway_proofs where gateway = 'sep' and proof = ${entryOf(first).trackingCode}`;
    expect(claims).toEqual([{ payment_id: both[statuses.indexOf('paid')]?.id }]);
  });
});
