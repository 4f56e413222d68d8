import {
  type ConsoleLogin,
  type ConsoleRole,
  createConsoleLoginQueries,
} from '../postgres/console-logins.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { MakeChange } from './change.ts';
import { Refusal } from './change.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  actor: string;
  /** Where people reach the web console. */
  consoleUrl: string;
}

/** Who may enter the web console. */
export const createConsoleLogins = ({ sql, change, actor, consoleUrl }: Deps) => ({
  /** @returns a link that opens one session within 15 minutes; by default it is for the caller */
  async issueLink(
    role: ConsoleRole,
    { name = actor, reason = null }: { name?: string | undefined; reason?: string | null } = {},
  ): Promise<{ name: string; url: string }> {
    if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u.test(name) || name === 'service')
      throw new Refusal('The name needs 1 to 100 letters, digits, spaces or . _ @ + -');
    return change({ action: 'console.link', subject: `person:${name}`, reason }, async (tx) => {
      const code = await createConsoleLoginQueries(tx).issueLink(name, role);
      return {
        result: { name, url: `${consoleUrl}/login/${code}` },
        before: null,
        after: { role },
      };
    });
  },

  list: (limit: number): Promise<ConsoleLogin[]> => createConsoleLoginQueries(sql).list(limit),

  /** Takes effect at the next request. @returns the number of sessions that it ended */
  async logOut(name: string, reason: string | null): Promise<number> {
    return change({ action: 'console.logout', subject: `person:${name}`, reason }, async (tx) => {
      const ended = await createConsoleLoginQueries(tx).endSessionsOf(name);
      if (ended === 0) throw new Refusal(`"${name}" has no open session.`);
      return { result: ended, before: { sessions: ended }, after: { sessions: 0 } };
    });
  },
});
