import type * as statements from '../../operations/statements.ts';

export const { measuredSql }: typeof statements = { measuredSql: (sql) => sql };
