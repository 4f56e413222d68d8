/** The entry of the workflow bundle. */
export { payment } from './payment.ts';
export { sweep } from './sweep.ts';
