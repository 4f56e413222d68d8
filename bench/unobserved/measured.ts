import type * as measured from '../../worker/instrumented.ts';

export const {
  instrumentPaymentOutcomes,
  instrumentDeliveries,
  instrumentGateways,
  instrumentSweeperTasks,
  instrumentLogger,
}: typeof measured = {
  instrumentPaymentOutcomes: (paymentOutcomes) => paymentOutcomes,
  instrumentDeliveries: (deliveries) => deliveries,
  instrumentGateways: (gatewayOf) => gatewayOf,
  instrumentSweeperTasks: (tasks) => tasks,
  instrumentLogger: (logger) => logger,
};
