import { createAdminLinks, everyLink } from '../../../postgres/admin/links.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createLinkEnds } from '../../../postgres/links/ends.ts';
import { createLinks } from '../../../postgres/links/links.ts';
import { type Filled, type Statements, statementsOf } from './statements.ts';

const linkOf = (n: number) => `LNK_${String(n).padStart(26, '0')}`;

/** Calls every method about links, by file. */
export const linkStatements = (
  db: Sql,
  { owner, now, count }: Filled & { count: number },
): Record<string, Statements> => {
  const every = { ...owner, orderId: null, status: null, from: null, to: null };
  const page = { after: null, limit: 21 };
  const next = { after: { at: now, id: linkOf(6) }, limit: 21 };
  return {
    'links/links.ts': statementsOf(createLinks(db), {
      insert: [
        {
          ...{ ...owner, id: 'LNK_NEW', orderId: 'order-7', amount: 1250, currency: 'EUR' },
          ...{ description: null, locale: null, expiresAt: now, askedBy: null },
          key: { hash: Buffer.alloc(32, 'new'), fingerprint: Buffer.alloc(32) },
        },
      ],
      getByKey: [owner, Buffer.alloc(32)],
      get: [linkOf(6), owner],
      list: [every, page],
      'list, of a status': [{ ...every, status: 'expired' }, next],
      'list, of an order': [{ ...every, orderId: 'order-6', from: new Date(0) }, next],
      'list, of both': [{ ...every, orderId: 'order-6', status: 'paid' }, page],
      disable: [linkOf(6)],
      getForPayer: [linkOf(6)],
      lock: [linkOf(6)],
    }),
    'links/ends.ts': statementsOf(createLinkEnds(db), {
      listDue: [100],
      end: [linkOf(count / 2 + 2), now],
    }),
    'admin/links.ts': statementsOf(createAdminLinks(db), {
      list: [everyLink, next],
      'list, of an order': [{ ...everyLink, ...owner, orderId: 'order-7' }, page],
      'list, of a status': [{ ...everyLink, test: owner.test, status: 'open' }, page],
      'list, to confirm': [{ ...everyLink, test: owner.test, toConfirm: true }, page],
      get: [linkOf(7)],
      listTries: [linkOf(7)],
      overRule: [{ amount: 1, currency: 'EUR', test: owner.test }, 'ada'],
    }),
  };
};
