import type { Action } from '../actions.ts';

/** Of one payment. */
export const paymentActions: readonly Action[] = [
  {
    path: '/payments/:id/retrigger',
    role: 'operator',
    confirm: async ({ params: { id = '' } }) => ({
      title: 'Re-trigger the webhook',
      consequence: `A new round of up to six attempts sends the event of ${id} again, to the webhook URL of now. The receiver may get it twice. The payment itself stays as it is.`,
      button: 'Re-trigger',
      back: `/payments/${id}`,
    }),
    execute: async ({ operations, request: { params }, reason }) => {
      await operations.deliveries.retrigger(params['id'] ?? '', reason);
    },
  },
];
