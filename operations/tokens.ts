import { defaultTokenScopes } from '../contract/token.ts';
import type { TokenSummary } from '../postgres/admin-tokens.ts';
import { createAdminTokens } from '../postgres/admin-tokens.ts';
import { createTokens, type NewToken } from '../postgres/tokens.ts';
import { findApplication, lockApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export const createTokenOperations = ({ sql, change }: Pick<Deps, 'sql' | 'change'>) => ({
  /** @returns the token, which cannot be read again */
  async issue(
    token: Required<Omit<NewToken, 'scopes'>> & Pick<NewToken, 'scopes'>,
    reason: string | null,
  ): Promise<string> {
    const { application, mode, name, scopes = defaultTokenScopes, expiresAt } = token;
    if (!/^\P{Cc}{1,100}$/u.test(name))
      throw new Refusal('A token needs a name of 1 to 100 characters.');
    if (expiresAt && expiresAt <= new Date()) throw new Refusal('The expiry is in the past.');
    const subject = `application:${application}`;
    return change({ action: 'token.issue', subject, reason }, async (tx) => {
      await lockApplication(tx, application);
      const text = await createTokens(tx).issue(token);
      const expires = expiresAt && expiresAt.toISOString();
      const after = { prefix: text.slice(0, 13), mode, name, scopes, expires };
      return { result: text, before: null, after };
    });
  },

  /** @param after the id of the token behind which the list begins */
  async list(
    application: string,
    limit: number,
    after: string | null = null,
  ): Promise<TokenSummary[]> {
    await findApplication(sql, application);
    return createAdminTokens(sql).list(application, limit, after);
  },

  async get(application: string, id: string): Promise<TokenSummary> {
    const token = await createAdminTokens(sql).get(application, id);
    if (!token) throw new NotFound(`The application "${application}" has no token "${id}".`);
    return token;
  },

  /** The API rejects the next request with it. */
  async revoke(
    { application, id }: { application: string; id: string },
    reason: string | null,
  ): Promise<TokenSummary> {
    const subject = `application:${application}`;
    return change({ action: 'token.revoke', subject, reason }, async (tx) => {
      const tokens = createAdminTokens(tx);
      const token = await tokens.get(application, id);
      if (!token) throw new NotFound(`The application "${application}" has no token "${id}".`);
      if (!(await tokens.revoke(application, id)))
        throw new Refusal(`The token "${id}" is already revoked.`);
      const { prefix, mode, name } = token;
      return { result: token, before: { id, prefix, mode, name }, after: { id, revoked: true } };
    });
  },
});
