import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/scripted-gateway.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const inTime = { grace: true, unreachable: false };
const unasked = () => withGateway(records, {});
const standing = async ({ id }: Payment) => {
  const facts = await records.paymentOutcomes.get(id);
  const events = await records.listEvents(id);
  return { status: facts?.status, failureCode: facts?.failureCode, events: events.length };
};

/** The payer is sent off after the activity has read the record, before it writes. */
const sendingMeanwhile = (payment: Payment, first: () => Promise<unknown> = async () => {}) => {
  let reads = 0;
  return {
    ...records.paymentOutcomes,
    async get(id: string) {
      const facts = await records.paymentOutcomes.get(id);
      if (reads++ === 0) {
        await first();
        await records.payments.sendToGateway(id, payment.createdAt);
      }
      return facts;
    },
  };
};

describe('at the deadline, where no payer was ever sent to the gateway', () => {
  it('a payment that is open there is expired without asking', async () => {
    const payment = await records.opened();
    const { expirePayment, calls } = unasked();
    const kind = await expirePayment({ id: payment.id, ...inTime });
    expect(kind).toEqual({ kind: 'ended', status: 'expired' });
    expect(calls()).toEqual([]);
    expect(await standing(payment)).toEqual({ status: 'expired', failureCode: null, events: 1 });
  });

  it('a payment whose workflow started too late is expired', async () => {
    const payment = await records.created();
    await unasked().expirePayment({ id: payment.id, ...inTime });
    expect(await standing(payment)).toEqual({ status: 'expired', failureCode: null, events: 1 });
  });

  it('a payment whose gateway could not be reached has failed: gateway_error', async () => {
    const payment = await records.created();
    const { expirePayment, calls } = unasked();
    const kind = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(kind).toEqual({ kind: 'ended', status: 'failed' });
    expect(calls()).toEqual([]);
    expect(await standing(payment)).toMatchObject({ failureCode: 'gateway_error', events: 1 });
  });

  it('the same where the last of many tries failed for a reason of ours, or its run was lost', async () => {
    const payment = await records.created();
    const asked = withGateway(records, { open: silence });
    await expect(asked.openPayment({ id: payment.id, late: false })).rejects.toThrow('timeout');
    await unasked().expirePayment({ id: payment.id, ...inTime });
    expect(await standing(payment)).toMatchObject({ failureCode: 'gateway_error', events: 1 });
  });

  it('FS-16: the gateway is asked about a payer who is sent there in this very moment', async () => {
    const payment = await records.opened();
    const paymentOutcomes = sendingMeanwhile(payment);
    const { expirePayment, calls } = withGateway(
      { ...records, paymentOutcomes },
      { verify: async () => confirmed() },
    );
    const kind = await expirePayment({ id: payment.id, ...inTime });
    expect(kind).toEqual({ kind: 'ended', status: 'paid' });
    expect(calls()).toEqual(['verify']);
  });

  it('FS-16: a payment that is opened and entered in this very moment is asked about next time', async () => {
    const payment = await records.created();
    const opened = {
      reference: `REF_${payment.id}`,
      redirect: { method: 'GET', url: 'https://gateway.example' } as const,
      exchanges: [],
    };
    const paymentOutcomes = sendingMeanwhile(payment, () =>
      records.paymentOutcomes.recordOpened(payment.id, opened),
    );
    const script = { verify: async () => confirmed() };
    const { expirePayment } = withGateway({ ...records, paymentOutcomes }, script);
    const first = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(first).toEqual({ kind: 'waiting' });
    expect(await standing(payment)).toEqual({ status: 'pending', failureCode: null, events: 0 });
    const second = await expirePayment({ id: payment.id, grace: true, unreachable: true });
    expect(second).toEqual({ kind: 'ended', status: 'paid' });
  });
});

interface LastInquiry {
  promise: string;
  grace?: boolean;
  /** What the gateway answers, in turn. */
  verify: (GatewayStatus | typeof silence)[];
  /** What it says to being expired; without it, it cannot do that. */
  expire?: boolean | typeof silence;
  kind: string;
  status: string;
}

const waiting: GatewayStatus = { state: 'waiting' };
const settling: GatewayStatus = { state: 'processing' };
const ended = (status: string) => ({ kind: 'ended', status });
const open = (kind: string) => ({ kind, status: 'processing' });
const inquiries: LastInquiry[] = [
  { promise: 'confirmed', verify: [confirmed()], ...ended('paid') },
  { promise: 'another amount', verify: [confirmed({ amount: 1 })], ...ended('failed') },
  { promise: 'cancelled', verify: [{ state: 'cancelled' }], ...ended('cancelled') },
  { promise: 'expired there', verify: [{ state: 'expired' }], ...ended('expired') },
  { promise: 'in progress, within the grace', verify: [settling], ...open('processing') },
  {
    promise: 'in progress past the grace: expired at the gateway',
    ...{ grace: false, verify: [settling], expire: true, ...ended('expired') },
  },
  {
    promise: 'in progress past the grace, at a gateway that cannot expire',
    ...{ grace: false, verify: [settling], ...ended('expired') },
  },
  {
    promise: 'nobody paid: expired at the gateway',
    ...{ verify: [waiting], expire: true, ...ended('expired') },
  },
  { promise: 'nobody paid, no way to expire', verify: [waiting], ...ended('expired') },
  {
    promise: 'FS-17: the gateway refuses to expire, because it is paid by now',
    ...{ verify: [waiting, confirmed()], expire: false, ...ended('paid') },
  },
  {
    promise: 'FS-17: the gateway refuses to expire what it has expired by now',
    ...{ verify: [waiting, { state: 'expired' }], expire: false, ...ended('expired') },
  },
  {
    promise: 'the gateway refuses to expire, and still has no outcome',
    ...{ verify: [waiting, settling], expire: false, ...open('unknown') },
  },
  {
    promise: 'the gateway refuses to expire, and falls silent',
    ...{ verify: [waiting, silence], expire: false, ...open('unknown') },
  },
  {
    promise: 'FS-07: silence to being expired is no outcome',
    ...{ verify: [waiting, waiting], expire: silence, ...open('unknown') },
  },
  {
    promise: 'the gateway has expired it, and only the answer is lost',
    ...{ verify: [waiting, { state: 'expired' }], expire: silence, ...ended('expired') },
  },
  { promise: 'FS-07: silence is no outcome', verify: [silence], ...open('unknown') },
  {
    promise: 'FS-07: silence is no outcome past the grace either',
    ...{ grace: false, verify: [silence], ...open('unknown') },
  },
];

describe('the last inquiry', () => {
  it.each(inquiries.map((inquiry) => [inquiry.promise, inquiry] as const))(
    '%s',
    async (_, { grace = true, verify, expire, kind, status }) => {
      const payment = await records.sent();
      const { expirePayment, calls } = withGateway(records, {
        verify: inTurn<GatewayStatus>(...verify),
        ...(expire !== undefined && { expire: inTurn<boolean>(expire) }),
      });
      const isOver = kind === 'ended';
      const answer = await expirePayment({ id: payment.id, grace, unreachable: false });
      expect(answer).toEqual(isOver ? { kind, status } : { kind });
      expect(await standing(payment)).toMatchObject({ status, events: isOver ? 1 : 0 });
      const expiring = expire === undefined ? [] : ['expire'];
      expect(calls()).toEqual(['verify', ...expiring, ...verify.slice(1).map(() => 'verify')]);
    },
  );

  it.each([
    { verify: [silence] },
    { verify: [waiting, silence], expire: silence },
    { verify: [waiting, silence], expire: false },
    { verify: [waiting, waiting], expire: false },
  ])(
    'alerts when it has no answer 15 minutes after the deadline: %o',
    async ({ verify, expire }) => {
      const { id } = await records.sent();
      for (const grace of [true, false]) {
        const { expirePayment, alerts } = withGateway(records, {
          verify: inTurn<GatewayStatus>(...verify),
          ...(expire !== undefined && { expire: inTurn<boolean>(expire) }),
        });
        expect(await expirePayment({ id, grace, unreachable: false })).toEqual({
          kind: 'unknown',
        });
        expect(alerts()).toEqual(grace ? [] : ['outcome_unknown']);
      }
    },
  );

  it('is followed by a look for money that may yet be taken, also after a crash', async () => {
    const lookedFor = async (said: GatewayStatus) => {
      const { id } = await records.sent();
      const { expirePayment, late } = withGateway(records, { verify: inTurn<GatewayStatus>(said) });
      for (let tries = 0; tries < 2; tries += 1) {
        const answer = await expirePayment({ id, grace: false, unreachable: false });
        expect(answer).toEqual({ kind: 'ended', status: 'expired' });
      }
      return late.map((each) => each === id);
    };
    expect(await lookedFor(settling)).toEqual([true, true]);
    expect(await lookedFor(waiting)).toEqual([]);
  });

  it('money that was taken while an earlier try said that nobody paid is looked for', async () => {
    const payment = await records.sent();
    const { expirePayment, late } = withGateway(records, {
      async verify() {
        const said = withGateway(records, { verify: inTurn<GatewayStatus>(waiting, waiting) });
        await said.expirePayment({ id: payment.id, grace: false, unreachable: false });
        return confirmed();
      },
    });
    const answer = await expirePayment({ id: payment.id, grace: true, unreachable: false });
    expect(answer).toEqual({ kind: 'ended', status: 'expired' });
    expect(late).toEqual([payment.id]);
  });

  describe('where nobody can look for money then', () => {
    const startLate = () => Promise.reject(new Error('the engine is away'));
    /** A try that is answered this when another one has ended the payment meanwhile. */
    const answeredLate = async (
      answer: GatewayStatus,
      earlier: GatewayStatus,
      meanwhile: GatewayStatus = waiting,
    ) => {
      const { id } = await records.sent();
      const verifying = (said: GatewayStatus) => withGateway(records, { verify: async () => said });
      await verifying(earlier).verifyPayment({ id, returned: false });
      const deadline = { id, grace: true, unreachable: false };
      const gateway = withGateway(
        records,
        {
          async verify() {
            await verifying(meanwhile).expirePayment(deadline);
            return answer;
          },
        },
        {
          workflows: { startLate },
          paymentOutcomes: { ...records.paymentOutcomes, flagDuplicates: startLate },
        },
      );
      await expect(gateway.expirePayment(deadline)).rejects.toThrow('the engine is away');
      return { id, alerts: gateway.alerts() };
    };

    it.each([
      ['all of it', confirmed()],
      ['another amount', confirmed({ amount: 1 })],
    ])('what was taken, %s, is told of, and in doubt from then on', async (_, answer) => {
      const { id, alerts } = await answeredLate(answer, waiting);
      expect(alerts).toEqual(['late_payment']);
      const again = unasked();
      await again.verifyPayment({ id, returned: false });
      expect(again.late).toEqual([id]);
    });

    it('nothing is told of where nothing was taken, or the payment is paid', async () => {
      const unpaid = await answeredLate({ state: 'cancelled' }, { state: 'processing' });
      expect(unpaid.alerts).toEqual([]);
      const paid = await answeredLate(confirmed(), waiting, confirmed());
      expect(paid.alerts).toEqual([]);
    });
  });

  it('FS-12: is not made about a payment that has ended', async () => {
    for (const status of terminalStatuses) {
      const { id } = await records.ended(status);
      const before = await records.snapshot(id);
      const { expirePayment, calls } = unasked();
      expect(await expirePayment({ id, ...inTime })).toEqual({ kind: 'ended', status });
      expect(calls()).toEqual([]);
      expect(await records.snapshot(id)).toEqual(before);
    }
  });
});
