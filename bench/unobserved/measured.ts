import type * as measured from '../../worker/instrumented.ts';

export const {
  instrumentPaymentOutcomes,
  instrumentDeliveries,
  instrumentGateways,
  instrumentLogger,
}: typeof measured = {
  instrumentPaymentOutcomes: (paymentOutcomes) => paymentOutcomes,
  instrumentDeliveries: (deliveries) => deliveries,
  instrumentGateways: (gatewayOf) => gatewayOf,
  instrumentLogger: (logger) => logger,
};
