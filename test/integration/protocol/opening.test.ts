import { type Opened, opening } from '../../../protocol/opening.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import {
  createOpeningDriver,
  type OpeningCodeFault,
} from '../../support/protocol/opening-driver.ts';

const records = await forFile(startRecords());
const driverOf = (candidates: 1 | 2) => (start: Opened, fault?: OpeningCodeFault) =>
  createOpeningDriver(records, start, { candidates, fault });

const replaces: OpeningCodeFault = {
  outcomes: (outcomes, { sql }) => ({
    ...outcomes,
    async recordOpened(id, opened) {
      await sql`update payments set gateway_reference = null where id = ${id} and status = 'pending'`;
      return outcomes.recordOpened(id, opened);
    },
  }),
};

checkTraces(opening(), {
  createDriver: driverOf(1),
  faults: {
    'a second opening replaces the first': replaces,
    'ended although a payer was sent': {
      outcomes: (outcomes) => ({
        ...outcomes,
        finalize: (ended, event, options) =>
          outcomes.finalize(ended, event, { ...options, onlyIfUnsent: false }),
      }),
    },
  },
});

checkTraces(opening({ candidates: 2 }), {
  createDriver: driverOf(2),
  faults: {
    'the next gateway is tried after the payer was sent': replaces,
    'the gateway is switched before the opening is recorded': {
      breaker: (breaker, { sql }) => ({
        ...breaker,
        async *inTurn(payment) {
          for await (const candidate of breaker.inTurn(payment)) {
            await sql`
              update payments set gateway = ${candidate.account.gateway}
              where gateway = ${payment.gateway} and status = 'pending' and gateway_reference is null`;
            yield candidate;
          }
        },
      }),
    },
    'the retry records the gateway that it asked, whatever is recorded': {
      outcomes: (outcomes, { sql }) => ({
        ...outcomes,
        async recordOpened(id, opened) {
          await sql`update payments set gateway = ${opened.gateway ?? ''} where id = ${id} and status = 'pending'`;
          return outcomes.recordOpened(id, opened);
        },
      }),
    },
    'a refusal after a silence ends the payment': { silenceRefuses: true },
    'one refusal ends the payment': {
      breaker: (breaker) => ({
        ...breaker,
        async *inTurn(payment) {
          for await (const candidate of breaker.inTurn(payment)) {
            yield { ...candidate, isLast: true };
            return;
          }
        },
      }),
    },
  },
});

checkTraces(opening({ candidates: 2, dead: true }), { createDriver: driverOf(2) });
