import { describe, expect, it } from 'vitest';
import { createTokens } from '../../../../postgres/applications/tokens.ts';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const anApplication = () => anApplicationOn(records.sql);
const logOf = (subject: string) => operationsOn(records.sql).auditLog({ subject, limit: 100 });

describe('tokens', () => {
  it('are listed without the secret part, and rejected once revoked', async () => {
    const { tokens } = operationsOn(records.sql);
    const application = await anApplication();
    const expiresAt = new Date(Date.now() + 60_000);
    const name = 'staging';
    const { token: text } = await tokens.issue(
      { application, mode: 'live', name, expiresAt },
      null,
    );
    expect(text).toMatch(/^svc_live_[0-9A-Za-z]{43}$/);
    const { authenticate } = createTokens(records.sql);
    const scopes = ['read', 'create', 'replay'];
    expect(await authenticate(text)).toMatchObject({ application, mode: 'live', scopes });

    const [listed] = await tokens.list(application, 100);
    expect(listed).toMatchObject({ prefix: text.slice(0, 13), mode: 'live', name, expiresAt });
    expect(listed?.lastUsedAt).toBeInstanceOf(Date);
    expect(JSON.stringify(listed)).not.toContain(text.slice(13));

    await tokens.revoke({ application, id: listed?.id ?? '' }, 'leaked');
    expect(await authenticate(text)).toBeUndefined();
    const again = tokens.revoke({ application, id: listed?.id ?? '' }, null);
    await expect(again).rejects.toThrow('is already revoked');
    const log = await logOf(`application:${application}`);
    expect(log.map(({ action }) => action).slice(0, 2)).toEqual(['token.revoke', 'token.issue']);
    expect(log[1]).toMatchObject({ after: { scopes } });
    expect(JSON.stringify(log)).not.toContain(text.slice(13));
  });

  it('are listed and revoked behind 1,000 newer ones', async () => {
    const { tokens } = operationsOn(records.sql);
    const application = await anApplication();
    const token = { application, mode: 'test', name: 'old', expiresAt: null } as const;
    const { token: old } = await tokens.issue(token, null);
    await records.sql`
      insert into tokens (hash, application, prefix, mode, name, created_at, revoked_at)
      select sha256(n::text::bytea), ${application}, 'svc_test_0000', 'test', 'later',
        now() + interval '1 hour', now()
      from generate_series(1, 1000) as n`;
    const [listed] = await tokens.list(application, 100);
    expect(listed?.name).toBe('old');
    await records.sql`update tokens set revoked_at = null where application = ${application}`;
    await tokens.revoke({ application, id: listed?.id ?? '' }, null);
    expect(await createTokens(records.sql).authenticate(old)).toBeUndefined();
  });

  it('are replaced by one with the same mode, scopes, name and lifetime, and end in time', async () => {
    const { tokens } = operationsOn(records.sql);
    const application = await anApplication();
    const hour = new Date(Date.now() + 3_600_000);
    const token = { application, mode: 'live', name: 'till', scopes: ['read'] } as const;
    const first = await tokens.issue({ ...token, expiresAt: hour }, null);
    const second = await tokens.replace({ application, id: first.id, keepDays: 7 }, 'yearly');
    const { authenticate } = createTokens(records.sql);
    for (const { token: text } of [first, second])
      expect(await authenticate(text)).toMatchObject({ mode: 'live', scopes: ['read'] });
    // It would have ended before.
    expect(second.oldEndsAt).toEqual(hour);
    expect(await tokens.get(application, second.id)).toMatchObject({ name: 'till' });
    const life = (await tokens.get(application, second.id)).expiresAt?.getTime() ?? 0;
    expect(Math.abs(life - hour.getTime())).toBeLessThan(60_000);

    await tokens.replace({ application, id: second.id, keepDays: 0 }, 'leaked');
    expect(await authenticate(second.token)).toBeUndefined();
    const again = tokens.replace({ application, id: second.id, keepDays: 0 }, null);
    await expect(again).rejects.toThrow('is not valid');
    expect((await logOf(`application:${application}`)).slice(0, 3)).toMatchObject([
      { action: 'token.replace', before: { id: second.id }, reason: 'leaked' },
      { action: 'token.replace', before: { id: first.id }, after: { id: second.id } },
      { action: 'token.issue' },
    ]);
  });

  it('a week is the longest that an old one is kept, and nothing lets it end later', async () => {
    const { tokens } = operationsOn(records.sql);
    const application = await anApplication();
    const token = { application, mode: 'test', name: 'a', expiresAt: null } as const;
    const { id } = await tokens.issue(token, null);
    const { oldEndsAt } = await tokens.replace({ application, id, keepDays: 7 }, null);
    expect((oldEndsAt.getTime() - Date.now()) / 86_400_000).toBeCloseTo(7, 2);
    const later = records.sql`
      update tokens set expires_at = expires_at + interval '1 day' where application = ${application}`;
    await expect(later).rejects.toThrow('expires_at cannot be cleared');
  });

  it('a token of another application cannot be revoked', async () => {
    const { tokens } = operationsOn(records.sql);
    const [one, other] = [await anApplication(), await anApplication()];
    const token = { application: one, mode: 'test', name: 'a', expiresAt: null } as const;
    await tokens.issue(token, null);
    const [listed] = await tokens.list(one, 100);
    await expect(tokens.revoke({ application: other, id: listed?.id ?? '' }, null)).rejects.toThrow(
      'has no token',
    );
  });
});
