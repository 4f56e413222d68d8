import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/scripted-gateway.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const waiting: GatewayStatus = { state: 'waiting' };
const ended = (status: string) => ({ kind: 'ended', status });
const open = (kind: string) => ({ kind, status: 'processing' });

interface Scene {
  promise: string;
  /** What the gateway answers, in turn. */
  verify: (GatewayStatus | typeof silence)[];
  /** What it says to being expired; without it, it cannot do that. */
  expire?: boolean | typeof silence | 'not asked to';
  kind: string;
  status: string;
}

const scenes: Scene[] = [
  { promise: 'closed there: cancelled', verify: [waiting], expire: true, ...ended('cancelled') },
  {
    promise: 'FS-17: not closed, because it is paid by now: paid',
    ...{ verify: [waiting, confirmed()], expire: false, ...ended('paid') },
  },
  {
    promise: 'FS-17: not closed, because it was closed before: cancelled',
    ...{ verify: [waiting, { state: 'expired' }], expire: false, ...ended('cancelled') },
  },
  {
    promise: 'FS-17: not closed, and still open: not over',
    ...{ verify: [waiting, waiting], expire: false, ...open('waiting') },
  },
  {
    promise: 'closed, and only the answer is lost: cancelled',
    ...{ verify: [waiting, { state: 'expired' }], expire: silence, ...ended('cancelled') },
  },
  {
    promise: 'FS-07: silence is no outcome',
    ...{ verify: [waiting, silence], expire: silence, ...open('unknown') },
  },
  { promise: 'a gateway that cannot close: not over', verify: [waiting], ...open('waiting') },
  {
    promise: 'money on its way is not stopped',
    ...{ verify: [{ state: 'processing' }], expire: 'not asked to', ...open('processing') },
  },
  {
    promise: 'paid all the same: paid',
    ...{ verify: [confirmed()], expire: 'not asked to', ...ended('paid') },
  },
  {
    promise: 'FS-07: silence before that is none either',
    ...{ verify: [silence], expire: 'not asked to', ...open('unknown') },
  },
  {
    promise: 'closed by a try that broke off',
    ...{ verify: [{ state: 'expired' }], expire: 'not asked to', ...ended('cancelled') },
  },
];

describe('a payer who comes back by the cancel link', () => {
  it.each(scenes.map((scene) => [scene.promise, scene] as const))(
    '%s',
    async (_, { verify, expire, kind, status }) => {
      const { id } = await records.sent();
      const expiring = expire === undefined || expire === 'not asked to' ? [] : [expire];
      const { verifyPayment, calls } = withGateway(records, {
        verify: inTurn<GatewayStatus>(...verify),
        ...(expire !== undefined && { expire: inTurn<boolean>(...expiring) }),
      });
      const isOver = kind === 'ended';
      const answer = await verifyPayment({ id, returned: true, cancelled: true });
      expect(answer).toEqual(isOver ? { kind, status } : { kind });
      expect((await records.paymentOutcomes.get(id))?.status).toBe(status);
      expect(await records.listEvents(id)).toHaveLength(isOver ? 1 : 0);
      const asked = ['verify', ...expiring.map(() => 'expire')];
      expect(calls()).toEqual([...asked, ...verify.slice(1).map(() => 'verify')]);
    },
  );

  it('and only by it: nobody else closes what can still be paid', async () => {
    const { id } = await records.sent();
    const { verifyPayment, calls } = withGateway(records, {
      verify: inTurn<GatewayStatus>(waiting),
      expire: inTurn<boolean>(true),
    });
    await verifyPayment({ id, returned: true });
    expect(calls()).toEqual(['verify']);
  });
});
