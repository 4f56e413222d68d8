/** The entry of the workflow bundle. */
export { latePayment } from './late-payment.ts';
export { payment } from './payment.ts';
export { sweep } from './sweeper.ts';
