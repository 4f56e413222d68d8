import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../../../postgres/driver/connection.ts';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';
import { startOwnPostgres } from '../../../support/servers/own-postgres.ts';
import { speakTls } from '../../../support/servers/speak-tls.ts';
import { startTcpProxy } from '../../../support/servers/tcp-proxy.ts';
import { until } from '../../../support/until.ts';

it('leaves a server that vanished silently, with and without TLS, unless the pool is patient', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const postgres = await startOwnPostgres();
  onTestFinished(postgres.drop);
  await speakTls(postgres.sql);
  const proxy = await startTcpProxy([postgres.url]);
  onTestFinished(proxy.stop);
  const pool = (query: string, patient: boolean) => {
    const url = postgres.url.replace(/:\d+\//, `:${new URL(proxy.url).port}/`);
    const sql = connect(`${url}${query}`, { name: 'tests', max: 1, patient });
    onTestFinished(() => sql.end({ timeout: 0 }));
    return sql;
  };
  const pools = [pool('', false), pool('?sslmode=require', false)];
  const patient = pool('', true);
  await Promise.all([...pools, patient].map((sql) => sql`select 1`));

  // Two ticks of the watch. A write and a read within one tick would count as idle, and take 70.
  vi.advanceTimersByTime(2_000);
  proxy.silence();
  let patientSettled = false;
  void patient`select 2`.catch(() => {}).finally(() => (patientSettled = true));
  let results: PromiseSettledResult<unknown>[] | undefined;
  void Promise.allSettled(pools.map((sql) => sql`select 2`)).then((all) => (results = all));
  const given = await until('the connections are given up', () => {
    vi.advanceTimersByTime(1_000);
    return results;
  });
  for (const result of given) {
    expect(result).toMatchObject({ reason: { code: 'CONNECTION_CLOSED' } });
    expect(result.status === 'rejected' && isPostgresUnavailable(result.reason)).toBe(true);
  }
  for (const sql of pools) expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  expect(patientSettled).toBe(false);
});
