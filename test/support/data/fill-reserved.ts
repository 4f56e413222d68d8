import { refundId } from '../../../contract/ids.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createTokens, tokenIdOf } from '../../../postgres/applications/tokens.ts';

/** Three refunds that no gateway was told of: one of the shop, and two of an application that is disabled. */
export const fillReserved = async (sql: Sql, ids: { paid: string }) => {
  await createApplications(sql).insert({
    slug: 'stopped',
    defaultGateway: 'sandbox',
    callbackUrls: ['https://stopped.example/return'],
    webhookUrl: null,
  });
  const rows = await sql<{ id: string }[]>`
    select p.id from payments p
    where p.status = 'paid' and p.application = 'shop' and p.amount_refund_pending = 0 and p.id <> ${ids.paid}
    order by p.id limit 3`;
  const made = rows.map(({ id }, n) => ({ id, refund: refundId(['reserved', String(n)]) }));
  for (const [n, { id, refund }] of made.entries()) {
    if (n > 0) await sql`update payments set application = 'stopped' where id = ${id}`;
    await sql`
      insert into refunds (id, payment_id, application, test, order_id, status, stage, amount, currency, method,
        requested_by, token, metadata, created_at, updated_at)
      select ${refund}, p.id, p.application, p.test, p.order_id, 'pending', 'reserved', 100, p.currency, 'refund',
        'application', '3f1c9a0b2d4e5f60', '{}', now() - interval '1 hour', now() from payments p where p.id = ${id}`;
  }
  await sql`update applications set status = 'disabled' where slug = 'stopped'`;
  await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 100000)`;
  const token = await createTokens(sql).issue({
    application: 'shop',
    mode: 'live',
    name: 'of another admin',
    scopes: ['refund'],
    issuedBy: { actor: 'another admin', via: 'console' },
  });
  await sql`delete from approvals where kind = 'refund'`;
  const [reserved = '', held = ''] = made.map(({ refund }) => refund);
  return { reserved, held, tokenToConfirm: tokenIdOf(token) };
};
