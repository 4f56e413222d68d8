import { presentPayment } from '../../contract/payment.ts';
import { refundableOf } from '../../gateways/refundable.ts';
import type { OwnPayment } from '../../postgres/payments/payments.ts';

/** The JSON of a payment that was read, with what can be refunded now. */
export const presentOwnPayment = (payment: OwnPayment, publicBaseUrl: string): string =>
  presentPayment(payment, publicBaseUrl, refundableOf(payment, new Date()));
