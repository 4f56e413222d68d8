import { defaultTokenScopes, type TokenMode } from '../../contract/token.ts';
import { createAdminTokens, type TokenSummary } from '../../postgres/admin/tokens.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
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

/** @throws NotFound */
export const findToken = async (
  sql: Queries,
  application: string,
  id: string,
): Promise<TokenSummary> => {
  const token = await createAdminTokens(sql).get(application, id);
  if (!token) throw new NotFound(`The application "${application}" has no token "${id}".`);
  return token;
};

/** The API takes it now. */
export const isUsableToken = ({ revokedAt, toConfirm, expiresAt }: TokenSummary): boolean =>
  revokedAt === null && !toConfirm && (expiresAt === null || expiresAt > new Date());

type WantedToken = Required<Omit<NewToken, 'scopes' | 'issuedBy'>> & Pick<NewToken, 'scopes'>;

export const createTokenOperations = ({
  sql,
  change,
  actor,
  via,
}: Pick<Deps, 'sql' | 'change' | 'actor' | 'via'>) => {
  /** @returns the token, and what the audit log keeps of it */
  const issueIn = async (tx: Queries, token: WantedToken) => {
    const { application, mode, name, scopes = defaultTokenScopes, expiresAt } = token;
    const text = await createTokens(tx).issue({ ...token, issuedBy: { actor, via } });
    const id = tokenIdOf(text);
    const { toConfirm = false } = (await createAdminTokens(tx).get(application, id)) ?? {};
    const expires = expiresAt && expiresAt.toISOString();
    const facts = { id, prefix: text.slice(0, 13), mode, name, scopes, expires };
    return {
      issued: { token: text, id, toConfirm },
      facts: { ...facts, ...(toConfirm && { to_confirm: true }) },
    };
  };

  return {
    /** A token that may refund waits for a second admin while refunds of admins need one above an amount. */
    async issue(token: WantedToken, reason: string | null): Promise<IssuedToken> {
      const { application, name, expiresAt } = token;
      if (!/^\P{Cc}{1,100}$/u.test(name))
        throw new Refusal('A token needs a name of 1 to 100 characters.');
      if (hasSecret(name)) throw new Refusal('The name holds a token or a secret.');
      if (expiresAt && expiresAt <= new Date()) throw new Refusal('The expiry is in the past.');
      const subject = `application:${application}`;
      return change({ action: 'token.issue', subject, reason }, async (tx) => {
        await lockApplication(tx, application);
        const { issued, facts } = await issueIn(tx, token);
        return { result: issued, before: null, after: facts };
      });
    },

    /**
     * Issues a token with the mode, the scopes, the name and the lifetime of a valid one, which ends.
     * @param keepDays 0: the old one is revoked at once
     * @throws Refusal
     */
    async replace(
      { application, id, keepDays }: { application: string; id: string; keepDays: number },
      reason: string | null,
    ): Promise<IssuedToken & Pick<WantedToken, 'mode' | 'expiresAt'> & { oldEndsAt: Date }> {
      const subject = `application:${application}`;
      return change({ action: 'token.replace', subject, reason }, async (tx) => {
        await lockApplication(tx, application);
        const old = await findToken(tx, application, id);
        const { prefix, mode, scopes, name, createdAt } = old;
        const now = new Date();
        if (!isUsableToken(old))
          throw new Refusal(`The token "${id}" is not valid. Issue another one.`);
        const lifeMs = old.expiresAt && old.expiresAt.getTime() - createdAt.getTime();
        const expiresAt = lifeMs === null ? null : new Date(now.getTime() + lifeMs);
        const { issued, facts } = await issueIn(tx, { application, mode, scopes, name, expiresAt });
        const tokens = createAdminTokens(tx);
        if (keepDays === 0) await tokens.revoke(application, id);
        const oldEndsAt = (keepDays > 0 && (await tokens.endIn(application, id, keepDays))) || now;
        return {
          result: { ...issued, mode, expiresAt, oldEndsAt },
          before: { id, prefix, mode, name },
          after: { ...facts, old_ends: oldEndsAt.toISOString() },
        };
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
        const token = await findToken(tx, application, id);
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
      return findToken(sql, application, id);
    },

    /** The API rejects the next request with it. */
    async revoke(
      { application, id }: { application: string; id: string },
      reason: string | null,
    ): Promise<TokenSummary> {
      const subject = `application:${application}`;
      return change({ action: 'token.revoke', subject, reason }, async (tx) => {
        const token = await findToken(tx, application, id);
        if (!(await createAdminTokens(tx).revoke(application, id)))
          throw new Refusal(`The token "${id}" is already revoked.`);
        const { prefix, mode, name } = token;
        return { result: token, before: { id, prefix, mode, name }, after: { id, revoked: true } };
      });
    },
  };
};
