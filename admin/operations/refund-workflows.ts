import { type Refund, refundStart } from '../../contract/refund.ts';
import type { Deps } from './deps.ts';

/** The requests of admins to the workflows of refunds. */
export const createRefundWorkflows = ({ temporal }: Pick<Deps, 'temporal'>) => ({
  /** The sweeper starts the workflow if Temporal is not available now. */
  async start(refund: Refund): Promise<void> {
    await temporal()
      .then((workflows) => workflows.restart(refundStart(refund)))
      .catch(() => {});
  },

  /** Has the workflow look now. The sweeper does if Temporal is not available. */
  async wake(refund: Refund): Promise<void> {
    await temporal()
      .then((workflows) => workflows.recheck(refundStart(refund)))
      .catch(() => {});
  },

  /** Has the workflow end a refund that was decided. `later`: the sweeper does, once Temporal is available. */
  end: (refund: Refund): Promise<'now' | 'later'> =>
    temporal()
      .then((workflows) => workflows.finishRefund(refundStart(refund)))
      .then(
        () => 'now',
        () => 'later',
      ),
});
