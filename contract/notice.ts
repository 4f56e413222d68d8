/** The subjects of mails to an application's people. */
export const noticeKinds = ['confirmation', 'failing', 'exhausted', 'recovered', 'digest'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/**
 * The ends of a notice. `refused`: the address takes no mail. `failed`: three tries failed. `unknown`: it may have been
 * sent, and is not sent again.
 */
export const noticeResults = ['sent', 'refused', 'failed', 'unknown'] as const;
export type NoticeResult = (typeof noticeResults)[number];
