import { type Opened, opening } from '../../../protocol/opening.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import {
  createOpeningDriver,
  type OpeningCodeFault,
} from '../../support/protocol/opening-driver.ts';

const records = await forFile(startRecords());
const createDriver = (_: Opened, fault?: OpeningCodeFault) => createOpeningDriver(records, fault);

const faults: Record<string, OpeningCodeFault> = {
  'a second opening replaces the first': (outcomes, { sql }) => ({
    ...outcomes,
    async recordOpened(id, opened) {
      await sql`update payments set gateway_reference = null where id = ${id} and status = 'pending'`;
      return outcomes.recordOpened(id, opened);
    },
  }),
  'ended although a payer was sent': (outcomes) => ({
    ...outcomes,
    finalize: (ended, event, options) =>
      outcomes.finalize(ended, event, { ...options, onlyIfUnsent: false }),
  }),
};

checkTraces(opening(), { createDriver, faults });
