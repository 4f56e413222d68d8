import { newLinkId } from '../../../contract/ids.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createLinks, type NewLink } from '../../../postgres/links/links.ts';

/** A link as an admin asks for it. */
export const aLink = (more: Partial<NewLink> = {}): NewLink => ({
  ...{ id: newLinkId(), application: 'shop', test: false, orderId: 'of a link', amount: 1250 },
  ...{ currency: 'EUR', description: null, locale: null },
  expiresAt: new Date(Date.now() + 86_400_000),
  askedBy: { actor: 'another admin', via: 'console' },
  ...more,
});

/** Links that nobody has begun to pay. @param text the longest one that a payer reads */
export const fillLinks = async (sql: Sql, text: string) => {
  const links = createLinks(sql);
  const insert = async (more: Partial<NewLink>): Promise<string> =>
    (await links.insert(aLink(more)))?.id ?? '';
  const disabled = await insert({ orderId: 'of no link any more' });
  await links.disable(disabled);
  const open = await insert({ description: text, locale: 'fa' });
  const ofTickets = await insert({ application: 'tickets', test: true, askedBy: null });
  // For the moment every link of an admin needs another one.
  await sql`insert into approvals (kind, currency, above) values ('link', 'EUR', 0)`;
  const toConfirm = await insert({ orderId: 'of a link to confirm' });
  await sql`delete from approvals where kind = 'link'`;
  return { open, disabled, toConfirm, ofTickets };
};
