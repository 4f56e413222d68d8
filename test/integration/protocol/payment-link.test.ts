import { paymentLink } from '../../../protocol/payment-link.ts';
import { startRefundRecords } from '../../support/data/refund-cases.ts';
import { forFile } from '../../support/for-file.ts';
import { checkTraces } from '../../support/protocol/check-traces.ts';
import {
  createPaymentLinkDriver,
  type PaymentLinkCodeFault,
} from '../../support/protocol/payment-link-driver.ts';

const records = await forFile(startRefundRecords());

const faults: Record<string, PaymentLinkCodeFault> = {
  'a link that was disabled is not paid': ({ end }) => ({
    async end(id, now) {
      const [link] = await records.sql`select from links where id = ${id} and status = 'disabled'`;
      return link ? undefined : end(id, now);
    },
  }),
  'a link ends without its event': () => ({
    async end(id) {
      await records.sql`
        update links set status = 'expired' where id = ${id} and status = 'open' and expires_at <= now()`;
      return undefined;
    },
  }),
  'the sweeper looks at expired links alone': ({ listDue }) => ({
    async listDue(limit) {
      const paid = await records.sql<{ id: string }[]>`
        select link_id as id from payments where link_id is not null and status = 'paid'`;
      const due = await listDue(limit);
      return due.filter((id) => !paid.some((each) => each.id === id));
    },
  }),
};

checkTraces(paymentLink(), {
  createDriver: (_, fault?: PaymentLinkCodeFault) => createPaymentLinkDriver(records, fault),
  faults,
});
