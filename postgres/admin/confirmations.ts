import type { Person } from '../audit-log.ts';
import type { RefundRule } from '../refunds/rules.ts';
import type { Queries } from '../driver/sql.ts';
import { selectTokenId } from '../applications/tokens.ts';

/** The constraints of `confirm_subject` in migrations/0001_schema.sql, and what they say. */
const problems = {
  confirmations__waits: 'nothing waits',
  confirmations__other: 'the same person',
  confirmations__known: 'an unknown name',
} as const;

/** The confirmation is not accepted. */
export class NotConfirmed extends Error {
  readonly why: (typeof problems)[keyof typeof problems];
  constructor(why: NotConfirmed['why']) {
    super(why);
    this.why = why;
  }
}

const orNotConfirmed = async (insert: Promise<unknown>): Promise<void> => {
  try {
    await insert;
  } catch (error) {
    const constraint =
      error instanceof Error && 'constraint_name' in error && error.constraint_name;
    for (const [name, why] of Object.entries(problems))
      if (constraint === name) throw new NotConfirmed(why);
    throw error;
  }
};

/** The words of a second admin. Each is a row, and the table decides whether the row counts. */
export const createConfirmations = (sql: Queries) => ({
  /** @throws NotConfirmed */
  async confirmRefund(id: string, { actor, via }: Person): Promise<void> {
    await orNotConfirmed(
      sql`insert into confirmations (refund_id, actor, via) values (${id}, ${actor}, ${via})`,
    );
  },

  /** @throws NotConfirmed */
  async confirmLink(id: string, { actor, via }: Person): Promise<void> {
    await orNotConfirmed(
      sql`insert into confirmations (link_id, actor, via) values (${id}, ${actor}, ${via})`,
    );
  },

  /** The rule that was asked for, with the amount that the second admin has seen. @throws NotConfirmed */
  async confirmRule(
    { application, currency, amount }: RefundRule,
    { actor, via }: Person,
  ): Promise<void> {
    await orNotConfirmed(sql`
      insert into confirmations (rule_application, rule_currency, rule_amount, actor, via)
      values (${application}, ${currency}, ${amount}, ${actor}, ${via})`);
  },

  /** @param id as lists show it. @throws NotConfirmed */
  async confirmToken(application: string, id: string, { actor, via }: Person): Promise<void> {
    await orNotConfirmed(sql`
      insert into confirmations (token, actor, via)
      select hash, ${actor}, ${via} from tokens
      where application = ${application} and ${selectTokenId(sql)} = ${id}`);
  },
});
