import { refund, type Refund } from '../../../protocol/refund.ts';
import { startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import { createRefundDriver, type RefundFault } from '../../support/protocol/refund-driver.ts';

const records = await forFile(startRefundRecords());
const driverWith = (restores: boolean) => (start: Refund, fault?: RefundFault) =>
  createRefundDriver(records, start, { restores, fault });

const faults: Record<string, RefundFault> = {
  'told is not written': () => ({ markTold: async () => true }),
  'told by everybody': ({ get, markTold }) => ({
    markTold: async (id, change) =>
      markTold(id, { ...change, timesTold: (await get(id))?.timesTold ?? change.timesTold }),
  }),
  'a refusal counts although a retry told again': ({ get, finishRefund }) => ({
    finishRefund: async (of, end, options) => {
      const { timesTold = 0 } = (await get(of.id)) ?? {};
      return finishRefund(of, { ...end, timesTold }, options);
    },
  }),
};

/** The model forgets at a restore who waits for a person, and at a notification what Postgres has forgotten. */
const mayStep = (step: string, s: Refund) =>
  !(step === 'backup copies' && (s.one_by_hand || s.two_by_hand)) &&
  !(step.startsWith('notification') && (s.one_status === 'none' || s.two_status === 'none'));

checkTraces(refund(), { createDriver: driverWith(false) });
checkTraces(refund({ shape: 'two tries' }), { createDriver: driverWith(false), faults });
checkTraces(refund({ shape: 'restores' }), {
  mayStep,
  createDriver: driverWith(true),
  faults: {
    'the gateway’s own refunds are not recorded': () => ({
      recordMadeAtGateway: async () => undefined,
    }),
  },
});
