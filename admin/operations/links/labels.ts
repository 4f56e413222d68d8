import type { LinkStatus } from '../../../contract/links/link.ts';

/** Beside the stages of a refund and the status of a link: it waits for a second admin. */
export const secondAdmin = 'to_confirm';

export const linkStatus: Record<LinkStatus | typeof secondAdmin, string> = {
  open: 'open',
  paid: 'paid',
  expired: 'expired',
  disabled: 'disabled',
  to_confirm: 'waits for a second admin',
};
