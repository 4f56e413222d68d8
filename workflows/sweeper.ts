import { sweeping } from './activities.ts';

/**
 * Finds what was lost between two systems, side by side and in bounded batches. Run by one Schedule;
 * whatever fails is done by the next one.
 */
export async function sweep(): Promise<void> {
  const askAll = async () => {
    const gateways = await sweeping.listGatewaysInUse();
    await Promise.allSettled(gateways.map((gateway) => sweeping.inquireAtGateway({ gateway })));
  };
  const results = await Promise.allSettled([
    sweeping.startOutboxWorkflows(),
    askAll(),
    sweeping.healPayments(),
    sweeping.deleteExpiredIdempotencyKeys(),
  ]);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
