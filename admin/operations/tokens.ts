import { defaultTokenScopes, type TokenMode } from '../../contract/token.ts';
import { createAdminTokens, type TokenSummary } from '../../postgres/admin/tokens.ts';
import { createConfirmations } from '../../postgres/admin/confirmations.ts';
import { createTokens, type NewToken, tokenIdOf } from '../../postgres/applications/tokens.ts';
import { findApplication, lockApplication } from './applications.ts';
import { hasSecret, NotFound, Refusal } from './change.ts';
import { orRefusal } from './confirmation.ts';
import type { Deps } from './deps.ts';

export interface IssuedToken {
  /** It cannot be read again. */
  token: string;
  id: string;
  /** It is of no use until another admin confirms it. */
  toConfirm: boolean;
}

export const createTokenOperations = ({
  sql,
  change,
  actor,
  via,
}: Pick<Deps, 'sql' | 'change' | 'actor' | 'via'>) => ({
  /** A token that may refund waits for a second admin while refunds of admins need one above an amount. */
  async issue(
    token: Required<Omit<NewToken, 'scopes' | 'issuedBy'>> & Pick<NewToken, 'scopes'>,
    reason: string | null,
  ): Promise<IssuedToken> {
    const { application, mode, name, scopes = defaultTokenScopes, expiresAt } = token;
    if (!/^\P{Cc}{1,100}$/u.test(name))
      throw new Refusal('A token needs a name of 1 to 100 characters.');
    if (hasSecret(name)) throw new Refusal('The name holds a token or a secret.');
    if (expiresAt && expiresAt <= new Date()) throw new Refusal('The expiry is in the past.');
    const subject = `application:${application}`;
    return change({ action: 'token.issue', subject, reason }, async (tx) => {
      await lockApplication(tx, application);
      const text = await createTokens(tx).issue({ ...token, issuedBy: { actor, via } });
      const id = tokenIdOf(text);
      const { toConfirm = false } = (await createAdminTokens(tx).get(application, id)) ?? {};
      const expires = expiresAt && expiresAt.toISOString();
      const facts = { id, prefix: text.slice(0, 13), mode, name, scopes, expires };
      const after = { ...facts, ...(toConfirm && { to_confirm: true }) };
      return { result: { token: text, id, toConfirm }, before: null, after };
    });
  },

  /** Tokens of every application that wait for a second admin. */
  async listToConfirm(
    mode: TokenMode,
    limit: number,
  ): Promise<(TokenSummary & { application: string })[]> {
    return createAdminTokens(sql).listToConfirm(mode, limit);
  },

  /** Confirms a token that another admin has issued. @throws Refusal */
  async confirm(
    { application, id }: { application: string; id: string },
    reason: string | null,
  ): Promise<TokenSummary> {
    const subject = `application:${application}`;
    return change({ action: 'token.confirm', subject, reason }, async (tx) => {
      const token = await createAdminTokens(tx).get(application, id);
      if (!token) throw new NotFound(`The application "${application}" has no token "${id}".`);
      const { name, issuedBy, toConfirm } = token;
      if (!toConfirm || token.revokedAt)
        throw new Refusal(`The token "${id}" does not wait for a second admin.`);
      const confirming = createConfirmations(tx).confirmToken(application, id, { actor, via });
      await orRefusal(confirming, `the token "${id}"`, issuedBy);
      const before = { id, name, issued_by: issuedBy };
      return { result: token, before, after: { id, confirmed_by: actor } };
    });
  },

  /** @param part.after the id of the token behind which the list begins */
  async list(
    application: string,
    limit: number,
    part: { after?: string | null; mode?: TokenSummary['mode'] | null } = {},
  ): Promise<TokenSummary[]> {
    await findApplication(sql, application);
    return createAdminTokens(sql).list(application, limit, part);
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
