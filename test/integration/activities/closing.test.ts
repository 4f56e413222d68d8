import { describe, expect, it } from 'vitest';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
for (const driver of ['stripe', 'zarinpal']) await records.addGateway(driver);

const waiting: GatewayStatus = { state: 'waiting' };
const settling: GatewayStatus = { state: 'processing' };
const expired: GatewayStatus = { state: 'expired' };
const cancelled: GatewayStatus = { state: 'cancelled' };
const declined: GatewayStatus = {
  ...{ state: 'failed', failureCode: 'card_declined' },
  ...{ code: null, message: null },
};
type Answer = GatewayStatus | typeof silence;

/** The four ways in which a payment ends whose payer was sent to the gateway. */
const ends = {
  link: { activity: 'verifyPayment', returned: true, cancelled: true },
  cancel: { activity: 'cancelPayment', by: 'application' },
  deadline: { activity: 'expirePayment', grace: true, unreachable: false },
  afterGrace: { activity: 'expirePayment', grace: false, unreachable: false },
} as const;
type End = keyof typeof ends;

interface Closing {
  verify: Answer[];
  /** The gateway's answer to closing the payment. Undefined: it cannot close payments. */
  expire: boolean | typeof silence | undefined;
  gateway?: 'stripe' | 'zarinpal';
}

/** @returns the outcome, or why there is none; `open as` the status of a payment without one */
const play = async (end: End, { verify, expire, gateway = 'stripe' }: Closing) => {
  const { id } = await records.sent({ gateway });
  const scripted = withGateway(records, {
    verify: inTurn<GatewayStatus>(...verify),
    ...(expire !== undefined && { expire: inTurn<boolean>(expire) }),
  });
  const { activity, ...request } = ends[end];
  // Each activity takes its own part of the request.
  const ask = scripted[activity] as (asked: object) => ReturnType<typeof scripted.verifyPayment>;
  const result = await ask({ id, ...request });
  const payment = await records.paymentOutcomes.get(id);
  const by = payment?.cancelledBy ? ` by ${payment.cancelledBy}` : '';
  const events = (await records.listEvents(id)).length;
  // All rows are of one order, which may be paid already.
  const others = scripted
    .alerts()
    .filter((code) => typeof code === 'string' && !code.startsWith('duplicate_'));
  const alert = others.map((code) => `, ${code as string}`).join('');
  if (result.kind !== 'ended') expect(events).toBe(0);
  else expect([result.status, events]).toEqual([payment?.status, 1]);
  return {
    said:
      result.kind === 'ended'
        ? `${result.status}${by}${alert}`
        : `${result.kind}, open as ${payment?.status}${alert}`,
    calls: scripted.calls().join(),
  };
};

const byPayer = 'cancelled by payer';
const byApplication = 'cancelled by application';
const paid = { link: 'paid', cancel: 'paid', deadline: 'paid', afterGrace: 'paid' };
const closed = {
  ...{ link: byPayer, cancel: byApplication },
  ...{ deadline: 'expired', afterGrace: 'expired' },
};
const unknown = {
  link: 'unknown, open as processing',
  cancel: 'unknown, open as pending',
  deadline: 'unknown, open as processing',
  afterGrace: 'unknown, open as processing, outcome_unknown',
};
const mismatch = 'failed, amount_mismatch';
const inProgress = 'processing, open as processing';

/** The calls: all of one row alike, but for `otherwise`. */
type Row = [string, Closing, Record<End, string>, string, Partial<Record<End, string>>?];
const closings: Row[] = [
  ['was paid', { verify: [confirmed()], expire: true }, paid, 'verify'],
  [
    'was declined',
    { verify: [declined], expire: true },
    { link: 'failed', cancel: 'failed', deadline: 'failed', afterGrace: 'failed' },
    'verify',
  ],
  [
    'was paid with another amount',
    { verify: [confirmed({ amount: 1 })], expire: true },
    { link: mismatch, cancel: mismatch, deadline: mismatch, afterGrace: mismatch },
    'verify',
  ],
  [
    'was cancelled by its payer',
    { verify: [cancelled], expire: true },
    { link: byPayer, cancel: byPayer, deadline: byPayer, afterGrace: byPayer },
    'verify',
  ],
  ['was closed by an earlier try', { verify: [expired], expire: true }, closed, 'verify'],
  [
    'has its money on the way',
    { verify: [settling], expire: true },
    { link: inProgress, cancel: inProgress, deadline: inProgress, afterGrace: 'expired' },
    'verify',
    { afterGrace: 'verify,expire' },
  ],
  [
    'has its money on the way and cannot be closed',
    { verify: [settling], expire: undefined },
    { link: inProgress, cancel: inProgress, deadline: inProgress, afterGrace: 'expired' },
    'verify',
  ],
  ['is not answered about', { verify: [silence], expire: true }, unknown, 'verify'],
  ['is closed', { verify: [waiting], expire: true }, closed, 'verify,expire'],
  [
    'cannot be closed',
    { verify: [waiting], expire: undefined },
    { ...closed, link: 'waiting, open as processing', cancel: 'waiting, open as pending' },
    'verify',
  ],
  [
    'goes home from a two-step gateway, which returns what is not verified',
    { verify: [waiting], expire: undefined, gateway: 'zarinpal' },
    { ...closed, link: 'waiting, open as processing' },
    'verify',
  ],
  [
    'was paid before the close',
    { verify: [waiting, confirmed()], expire: false },
    paid,
    'verify,expire,verify',
  ],
  [
    'was closed before the close',
    { verify: [waiting, expired], expire: false },
    closed,
    'verify,expire,verify',
  ],
  [
    'is not closed and is still payable',
    { verify: [waiting, waiting], expire: false },
    { ...unknown, link: 'waiting, open as processing' },
    'verify,expire,verify',
  ],
  [
    'is not closed and has its money on the way',
    { verify: [waiting, settling], expire: false },
    { ...unknown, link: inProgress, cancel: inProgress },
    'verify,expire,verify',
  ],
  [
    'is not closed and then not answered about',
    { verify: [waiting, silence], expire: false },
    unknown,
    'verify,expire,verify',
  ],
  [
    'was closed, and the answer was lost',
    { verify: [waiting, expired], expire: silence },
    closed,
    'verify,expire,verify',
  ],
  [
    'was closed, the answer was lost, and its gateway shows that as a cancel',
    { verify: [waiting, cancelled], expire: silence },
    closed,
    'verify,expire,verify',
  ],
  [
    'was cancelled by its payer before the close',
    { verify: [waiting, cancelled], expire: false },
    { link: byPayer, cancel: byPayer, deadline: byPayer, afterGrace: byPayer },
    'verify,expire,verify',
  ],
  [
    'gets no answer to the close and is still payable',
    { verify: [waiting, waiting], expire: silence },
    { ...unknown, link: 'waiting, open as processing' },
    'verify,expire,verify',
  ],
  [
    'gets no answer to the close, nor to the question after it',
    { verify: [waiting, silence], expire: silence },
    unknown,
    'verify,expire,verify',
  ],
];

describe('a cancel link, a cancel of the application, the deadline and the end of the grace', () => {
  it.each(closings)(
    'agree about a payment that %s',
    async (_, closing, said, calls, otherwise = {}) => {
      for (const end of Object.keys(ends) as End[])
        expect(await play(end, closing), end).toEqual({
          said: said[end],
          calls: otherwise[end] ?? calls,
        });
    },
  );
});

describe('cancelPayment', () => {
  it('ends a payment whose payer was not sent, without a question to the gateway', async () => {
    const { id } = await records.opened();
    for (const reason of ['Another reason', 'Out of stock'])
      await records.payments.recordCancelReason(id, reason);
    const { cancelPayment, calls } = withGateway(records, {});
    expect(await cancelPayment({ id, by: 'application' })).toEqual({
      kind: 'ended',
      status: 'cancelled',
    });
    expect(calls()).toEqual([]);
    const [event] = await records.listEvents(id);
    expect(JSON.parse(event?.body.toString() ?? '')).toMatchObject({
      event: 'payment.cancelled',
      cancelled_by: 'application',
    });
    expect(await records.paymentOutcomes.get(id)).toMatchObject({
      cancellationReason: 'Out of stock',
      failureCode: null,
    });
  });

  it('takes no reason of an application for the cancel of an admin, or for one without a reason', async () => {
    const { id } = await records.opened();
    await records.payments.recordCancelReason(id, 'Out of stock');
    await withGateway(records, {}).cancelPayment({ id, by: 'admin' });
    const { id: other } = await records.opened();
    for (const reason of ['Out of stock', null])
      await records.payments.recordCancelReason(other, reason);
    await withGateway(records, {}).cancelPayment({ id: other, by: 'application' });
    for (const each of [id, other])
      expect(await records.paymentOutcomes.get(each)).toMatchObject({
        status: 'cancelled',
        cancellationReason: null,
      });
    await records.payments.recordCancelReason(id, 'Too late');
    const rows = await records.sql`select from payments where cancel_request_reason = 'Too late'`;
    expect(rows).toHaveLength(0);
  });

  it('asks the gateway in a retry although no checkout is recorded', async () => {
    const { id } = await records.opened();
    const { cancelPayment } = withGateway(
      records,
      { verify: async () => confirmed() },
      { isRetry: () => true },
    );
    expect(await cancelPayment({ id, by: 'application' })).toEqual({
      kind: 'ended',
      status: 'paid',
    });
  });
});
