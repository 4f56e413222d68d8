import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTokens } from '../../../../postgres/applications/tokens.ts';
import { startRecords } from '../../../support/data/records.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const tokens = createTokens(records.sql);

const issue = () => tokens.issue({ application: 'shop', mode: 'test', name: 'a test' });
const hash = (token: string) => createHash('sha256').update(token).digest();
const setTime = (token: string, column: string, ago: string) => records.sql`
  update tokens set ${records.sql(column)} = now() - ${ago}::interval where hash = ${hash(token)}`;

describe('a token', () => {
  it.each(['test', 'live'] as const)(
    'of the mode %s is stored as its hash and its first characters',
    async (mode) => {
      const token = await tokens.issue({ application: 'shop', mode, name: 'a test' });
      expect(token).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{43}$`));
      const [row] = await records.sql<{ prefix: string; text: string }[]>`
        select prefix, t::text as text from tokens t where hash = ${hash(token)}`;
      expect(row?.prefix).toBe(token.slice(0, 13));
      expect(row?.text).not.toContain(token.slice(13));
    },
  );

  it('identifies the caller, its mode and its gateway', async () => {
    expect(await tokens.authenticate(await issue())).toMatchObject({
      application: 'shop',
      disabled: false,
      mode: 'test',
      callbackUrls: ['https://shop.example/return'],
      webhookUrl: 'https://shop.example/webhooks',
      defaultGateway: { slug: 'sandbox', driver: 'sandbox', kind: 'sandbox', enabled: true },
    });
  });

  it('records its use at most once a minute', async () => {
    const token = await issue();
    const usedAgo = async () => {
      const [row] = await records.sql<{ seconds: number | null; xmin: string }[]>`
        select extract(epoch from now() - last_used_at)::int as seconds, xmin::text
        from tokens where hash = ${hash(token)}`;
      return row;
    };
    expect(await usedAgo()).toMatchObject({ seconds: null });
    await tokens.authenticate(token);
    const first = await usedAgo();
    expect(first?.seconds).toBeLessThan(30);
    await tokens.authenticate(token);
    expect((await usedAgo())?.xmin).toBe(first?.xmin);
    await setTime(token, 'last_used_at', '61 seconds');
    await tokens.authenticate(token);
    expect((await usedAgo())?.seconds).toBeLessThan(30);
  });

  it('reports the seconds until the next clock minute', async () => {
    const token = await issue();
    const secondsLeft = async () => {
      const [row] = await records.sql<{ left: number }[]>`
        select 60 - floor(extract(second from clock_timestamp()))::int as left`;
      return row?.left ?? 0;
    };
    const { reported, most, least } = await until(
      'the minute does not end during the request',
      async () => {
        const before = await secondsLeft();
        const caller = await tokens.authenticate(token);
        const after = await secondsLeft();
        return (
          after <= before && { reported: caller?.budget.secondsLeft, most: before, least: after }
        );
      },
    );
    expect(reported).toBeGreaterThanOrEqual(least);
    expect(reported).toBeLessThanOrEqual(most);
  });

  it.each([1, 2, 60])(
    'begins a new count after the clock of Postgres was set back by %i minutes',
    async (minutes) => {
      const token = await issue();
      await tokens.authenticate(token);
      await records.sql`
        update request_counts
        set requests = 200, minute = floor(extract(epoch from now()) / 60) + ${minutes}
        where application = 'shop'`;
      expect(await tokens.authenticate(token)).toMatchObject({ budget: { used: 1 } });
      await until('two requests of one minute are counted together', async () => {
        const before = await tokens.authenticate(token);
        const after = await tokens.authenticate(token);
        return after?.budget.used === (before?.budget.used ?? 0) + 1;
      });
    },
  );

  it('counts a request that waited for the row in the minute in which it got the row', async () => {
    const token = await issue();
    await tokens.authenticate(token);
    // A session whose statements take a minute.
    const connection = await records.sql.reserve();
    onTestFinished(async () => {
      await connection`reset search_path`;
      connection.release();
    });
    await connection`create schema slow`;
    await connection`create function slow.clock_timestamp() returns timestamptz volatile
      return pg_catalog.now() + interval '1 minute'`;
    await connection`set search_path = slow, pg_catalog, public`;
    const slow = createTokens(connection);
    const counted = async () => {
      const [row] = await records.sql<{ minute: number }[]>`
        update request_counts set requests = 7, minute = floor(extract(epoch from now()) / 60) + 1
        where application = 'shop' returning minute`;
      const caller = await slow.authenticate(token);
      const [now] = await records.sql<{ minute: number }[]>`
        select floor(extract(epoch from now()) / 60)::int + 1 as minute`;
      // Otherwise a minute has ended between the statements.
      return row?.minute === now?.minute && caller?.budget.used;
    };
    expect(await until('the statements are of one minute', counted)).toBe(8);
  });
});
