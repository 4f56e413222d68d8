import { createAuditLog } from '../../../postgres/audit-log.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { anAuditSlice } from '../data/filters.ts';
import type { Statements } from './statements.ts';

/** Calls every method about the audit log. */
export const auditStatements = (
  db: Sql,
  { idOf }: { idOf: (n: number) => string },
): Record<string, Statements> => {
  const auditLog = createAuditLog(db);
  return {
    'audit-log.ts': {
      methods: auditLog,
      calls: {
        insert: () =>
          auditLog.insert({
            actor: 'ada',
            action: 'payment.heal',
            subject: `payment:${idOf(7)}`,
            before: null,
            after: null,
            reason: null,
            via: 'cli',
          }),
        insertDuplicate: () => auditLog.insertDuplicate('payment.duplicate', idOf(7), {}),
        insertRefusedLogin: () => auditLog.insertRefusedLogin('link'),
        verify: auditLog.verify,
        has: () => auditLog.has({ id: 1, hash: '00' }),
        list: () => auditLog.list({ subject: null, limit: 50 }),
        'list, of a payment': () => auditLog.list({ subject: `payment:${idOf(7)}`, limit: 50 }),
        'list, of a person and a time, with a text': () => auditLog.list(anAuditSlice),
        searchedBackTo: () => auditLog.searchedBackTo(anAuditSlice),
        'searchedBackTo, of all': () => auditLog.searchedBackTo({ subject: null, limit: 50 }),
      },
    },
  };
};
