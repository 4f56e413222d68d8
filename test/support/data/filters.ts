import type { Filters } from '../../../contract/list.ts';
import type { ListEvents } from '../../../contract/list-events.ts';
import type { ListMovements } from '../../../contract/list-movements.ts';
import type { PaymentFilter } from '../../../postgres/admin-payments.ts';

export const everyPayment: PaymentFilter = {
  id: null,
  application: null,
  test: null,
  orderId: null,
  status: null,
  from: null,
  to: null,
  failureCode: null,
  gateway: null,
  orderPrefix: null,
  currency: null,
  amountFrom: null,
  amountTo: null,
};

export const everyMovement: Filters<ListMovements> = {
  kind: null,
  paymentId: null,
  from: null,
  to: null,
};

export const everyEvent: Filters<ListEvents> = {
  event: null,
  delivery: null,
  paymentId: null,
  orderId: null,
  from: null,
  to: null,
  order: 'desc',
  include: null,
};
