import type { Action } from '../actions.ts';

/** Of one payment. */
export const paymentActions: readonly Action[] = [
  {
    path: '/payments/:id/replay',
    role: 'operator',
    confirm: async ({ params: { id = '' }, operations }) => {
      const { payment } = await operations.payments.get(id);
      return {
        title: 'Replay the webhook',
        consequence: `${
          payment.delivery === 'pending'
            ? `The next attempt of the round sends the event of ${id} now`
            : `A new round of up to six attempts sends the event of ${id} again`
        }, to the webhook URL of now. The receiver may get it twice. The payment itself stays as it is.`,
        button: 'Replay',
        back: `/payments/${id}`,
      };
    },
    execute: async ({ operations, params }, reason) => {
      await operations.replays.replayOne(params['id'] ?? '', reason);
    },
  },
];
