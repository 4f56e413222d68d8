import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Tokens } from '../../../postgres/tokens.ts';
import { createTokens } from '../../../postgres/tokens.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { until } from '../../support/until.ts';

let records: Records;
let tokens: Tokens;
beforeAll(async () => {
  records = await startRecords();
  tokens = createTokens(records.sql);
});
afterAll(() => records.drop());

const issue = () => tokens.issue({ application: 'shop', mode: 'test', name: 'a test' });
const hashOf = (token: string) => createHash('sha256').update(token).digest();
const change = (token: string, column: string, ago: string) => records.sql`
  update tokens set ${records.sql(column)} = now() - ${ago}::interval where hash = ${hashOf(token)}`;
const isKnown = async (token: string) => (await tokens.authenticate(token)) !== undefined;

describe('a token', () => {
  it('is stored as its hash and its first characters, never as it is', async () => {
    const token = await issue();
    expect(token).toMatch(/^svc_test_[0-9A-Za-z]{43}$/);
    const [row] = await records.sql<{ prefix: string; text: string }[]>`
      select prefix, t::text as text from tokens t where hash = ${hashOf(token)}`;
    expect(row?.prefix).toBe(token.slice(0, 13));
    expect(row?.text).not.toContain(token.slice(13));
  });

  it('says who calls, in which mode and through which gateway', async () => {
    expect(await tokens.authenticate(await issue())).toMatchObject({
      application: 'shop',
      disabled: false,
      mode: 'test',
      callbackUrls: ['https://shop.example/return'],
      webhookUrl: 'https://shop.example/webhooks',
      defaultGateway: { slug: 'sandbox', driver: 'sandbox', kind: 'sandbox', enabled: true },
    });
  });

  it('that was never issued, or is not written in the same letters, is unknown', async () => {
    const token = await issue();
    expect(await isKnown(token.slice(0, -1))).toBe(false);
    expect(await isKnown(token.toUpperCase())).toBe(false);
    expect(await isKnown('')).toBe(false);
  });

  it('that is revoked fails on the very next request', async () => {
    const token = await issue();
    expect(await isKnown(token)).toBe(true);
    await change(token, 'revoked_at', '0');
    expect(await isKnown(token)).toBe(false);
  });

  it('holds until it expires, and no longer', async () => {
    const token = await issue();
    await change(token, 'expires_at', '-1 minute');
    expect(await isKnown(token)).toBe(true);
    await change(token, 'expires_at', '0');
    expect(await isKnown(token)).toBe(false);
  });

  it('of a disabled application says so at once', async () => {
    const token = await tokens.issue({ application: 'quiet', mode: 'live', name: 'a test' });
    await records.sql`update applications set status = 'disabled' where slug = 'quiet'`;
    expect(await tokens.authenticate(token)).toMatchObject({ disabled: true, mode: 'live' });
  });

  it('notes its use to the minute, without a write at every request', async () => {
    const token = await issue();
    const usedAgo = async () => {
      const [row] = await records.sql<{ seconds: number | null; xmin: string }[]>`
        select extract(epoch from now() - last_used_at)::int as seconds, xmin::text
        from tokens where hash = ${hashOf(token)}`;
      return row;
    };
    expect(await usedAgo()).toMatchObject({ seconds: null });
    await tokens.authenticate(token);
    const first = await usedAgo();
    expect(first?.seconds).toBeLessThan(30);
    await tokens.authenticate(token);
    expect((await usedAgo())?.xmin).toBe(first?.xmin);
    await change(token, 'last_used_at', '61 seconds');
    await tokens.authenticate(token);
    expect((await usedAgo())?.seconds).toBeLessThan(30);
  });

  it('says how long the minute of its count still lasts', async () => {
    const token = await issue();
    const secondsLeft = async () => {
      const [row] = await records.sql<{ left: number }[]>`
        select 60 - floor(extract(second from clock_timestamp()))::int as left`;
      return row?.left ?? 0;
    };
    const { told, most, least } = await until('a minute does not end meanwhile', async () => {
      const before = await secondsLeft();
      const caller = await tokens.authenticate(token);
      const after = await secondsLeft();
      return after <= before && { told: caller?.budget.secondsLeft, most: before, least: after };
    });
    expect(told).toBeGreaterThanOrEqual(least);
    expect(told).toBeLessThanOrEqual(most);
  });

  it('counts on where a request that began in the next minute came to the count first', async () => {
    const token = await issue();
    await tokens.authenticate(token);
    await records.sql`
      update request_counts set requests = 7, minute = floor(extract(epoch from now()) / 60) + 1
      where application = 'shop'`;
    expect(await tokens.authenticate(token)).toMatchObject({ budget: { used: 8 } });
    expect(await tokens.authenticate(token, 5)).toMatchObject({ budget: { used: 13 } });
  });

  it('of a disabled application is what it made in this minute, and grows no more', async () => {
    const token = await issue();
    await tokens.authenticate(token);
    await records.sql`update applications set status = 'disabled' where slug = 'shop'`;
    onTestFinished(async () => {
      await records.sql`update applications set status = 'active' where slug = 'shop'`;
    });
    const usedIn = async (minutes: number) => {
      await records.sql`
        update request_counts set requests = 7,
          minute = floor(extract(epoch from now()) / 60) + ${minutes}
        where application = 'shop'`;
      const caller = await tokens.authenticate(token);
      expect(caller?.disabled).toBe(true);
      return caller?.budget.used;
    };
    await until('it is this minute', async () => (await usedIn(0)) === 7);
    expect(await usedIn(-1)).toBe(0);
  });
});
