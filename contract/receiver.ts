/** How an application's receiver takes its events. `exhausted`: one had no attempt left. */
export const receiverStates = ['ok', 'failing', 'exhausted'] as const;
export type ReceiverState = (typeof receiverStates)[number];
