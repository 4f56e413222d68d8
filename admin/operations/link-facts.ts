import { formatMoney } from '../../contract/money.ts';
import type { LinkOverRule, LinkRecord } from '../../postgres/admin/links.ts';
import { fact } from './fact.ts';
import { labelOf } from './labels.ts';
import { secondAdmin } from './link-labels.ts';

/** Its status, or that it waits for a second admin. */
export const linkState = ({ status, toConfirm }: LinkRecord) => (toConfirm ? secondAdmin : status);

/** @param url its address, where a person needs it */
export const linkFacts = (link: LinkRecord, url: string | null) => ({
  url: fact('Address for the payer', url),
  application: fact('Application', link.application),
  order: fact('Order', link.orderId),
  amount: fact('Amount', formatMoney(link)),
  status: fact('Status', labelOf('linkStatus', linkState(link))),
  text: fact('Text', link.description),
  language: fact('Language', link.locale),
  payment: fact('Paid by', link.paymentId),
  askedBy: fact('Made by', link.askedBy ?? labelOf('requester', 'application')),
  created: fact('Created', link.createdAt),
  until: fact('Until', link.expiresAt),
  paid: fact('Paid', link.paidAt),
  disabled: fact('Disabled', link.disabledAt),
});

/** Says to the admin who asks for a link that another one must confirm it, and why. */
export const linkOverRuleText = ({ total, above }: LinkOverRule, currency: string): string => {
  const [sum, rule] = [total, above].map((amount) => formatMoney({ amount, currency }));
  return `Another admin must confirm it, because with it you have asked for links of ${sum} within 24 hours, and the rule is ${rule}. Until then nobody can pay it.`;
};
