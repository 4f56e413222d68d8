const fewTokens = 'tokens are issued by hand, and only an admin lists them';

/** Queries that may read a whole table, with the reason. */
export const allowedScans: Readonly<Record<string, string>> = {
  'admin/tokens.ts, list: Seq Scan on tokens': fewTokens,
  'admin/tokens.ts, listToConfirm: Seq Scan on tokens': fewTokens,
  'admin/attention.ts, get: Seq Scan on tokens': fewTokens,
  'admin/attention.ts, get, of live payments: Seq Scan on tokens': fewTokens,
  'admin/tokens.ts, endIn: Seq Scan on tokens': fewTokens,
  'admin/tokens.ts, get: Seq Scan on tokens': fewTokens,
  'admin/tokens.ts, revoke: Seq Scan on tokens': fewTokens,
  'console/queries.ts, findToken: Seq Scan on tokens': fewTokens,
  'admin/reconciliation.ts, listLate: Seq Scan on late_payments': 'late payments are rare',
};

const fewDays = 'a day is a third of the table here, which has three';

/** Files of `postgres/` whose statements only admins and purges send: they connect without keeping plans. */
export const isOfAdmins = (file: string) => /^(?:admin|console)\//.test(file);

/** Queries that may do so where a connection keeps its plans, as those of API and workers do, in place of those above. */
export const allowedOfKept: Readonly<Record<string, string>> = {
  'accounts/comparison.ts, findDifferences: Seq Scan on movements': fewDays,
  'accounts/comparison.ts, findDifferences: Seq Scan on refunds': fewDays,
  'accounts/gateway-entries.ts, forgetAnswers: Seq Scan on gateway_entries': fewDays,
  'accounts/gateway-entries.ts, forgetUnlisted: Seq Scan on gateway_entries': fewDays,
  'accounts/gateway-entries.ts, listToAsk: Seq Scan on movements': fewDays,
};
