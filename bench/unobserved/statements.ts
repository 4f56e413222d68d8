import type * as statements from '../../telemetry/query-metrics.ts';

export const { instrumentSql }: typeof statements = { instrumentSql: (sql) => sql };
