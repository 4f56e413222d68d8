import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { reconnectingPool } from '../../../../postgres/driver/reconnecting-pool.ts';
import { fakePool } from '../../../support/data/fake-pool.ts';

/** Counts the pools that are opened when each of three queries fails with `code`. */
const countPools = async (code: string, bytesRead: number) => {
  let pools = 0;
  const sql = reconnectingPool((onSocket) => {
    pools += 1;
    onSocket(Object.defineProperty(new Socket(), 'bytesRead', { value: bytesRead }));
    return fakePool(() => Promise.reject(Object.assign(new Error('It failed'), { code })));
  });
  for (let nth = 1; nth <= 3; nth += 1) await expect(sql`select 1`).rejects.toThrow('It failed');
  await sql.end();
  await expect(sql`select 1`).rejects.toThrow('It failed');
  return pools;
};

it('replaces the pool each time a connection is lost, until it ends', async () => {
  expect(await countPools('ECONNRESET', 1)).toBe(4);
});

it.each([
  ['no server ever answered', 'ECONNRESET', 0],
  ['Postgres rejected a query', '23505', 1],
  ['Postgres accepts no connections', '57P03', 1],
])('keeps the pool when %s', async (_, code, bytesRead) => {
  expect(await countPools(code, bytesRead)).toBe(1);
});
