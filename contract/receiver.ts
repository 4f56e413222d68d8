/** The health of an application's receiver. `exhausted`: one had no attempt left. */
export const receiverStates = ['ok', 'failing', 'exhausted'] as const;
export type ReceiverState = (typeof receiverStates)[number];
