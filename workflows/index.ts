/** The workflows that workers load. */
export { latePayment } from './late-payment.ts';
export { payment } from './payment.ts';
export { sweeper } from './sweeper.ts';
