/** The entry of the workflow bundle. */
export { late } from './late.ts';
export { payment } from './payment.ts';
export { sweep } from './sweep.ts';
