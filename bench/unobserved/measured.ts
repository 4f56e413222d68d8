import type * as measured from '../../worker/measured.ts';

export const {
  measuredSettlements,
  measuredDeliveries,
  measuredGateways,
  measuredLogger,
}: typeof measured = {
  measuredSettlements: (settlements) => settlements,
  measuredDeliveries: (deliveries) => deliveries,
  measuredGateways: (gatewayOf) => gatewayOf,
  measuredLogger: (logger) => logger,
};
