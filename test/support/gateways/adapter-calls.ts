import type { GatewayAdapter } from '../../../gateways/gateway.ts';

export const adapterCalls: Record<keyof GatewayAdapter, true> = {
  open: true,
  verify: true,
  inquire: true,
  expire: true,
  reverse: true,
  refund: true,
  refunds: true,
  renew: true,
  disputes: true,
  listUnverified: true,
  book: true,
  balance: true,
  payout: true,
  payoutLines: true,
  payouts: true,
};
