import type { Payer } from '../../contract/payer.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import type { SecretBox } from '../secrets/secret-box.ts';

/** What is sealed. The locale stays in the payment's row: pages need it, and it tells nobody who the payer is. */
export type PayerData = Omit<Payer, 'locale'>;

const ownerOf = (paymentId: string) => `payer:${paymentId}`;

/** @returns null if there is nothing to seal */
export const sealPayer = (
  box: Pick<SecretBox, 'seal'>,
  paymentId: string,
  { mobile, email, name }: Payer = {},
): string | null => {
  const text = JSON.stringify({ mobile, email, name });
  return text === '{}' ? null : box.seal(text, ownerOf(paymentId));
};

/** @throws Error that contains no data, see {@link SecretBox} */
export const openPayer = (
  box: Pick<SecretBox, 'open'>,
  paymentId: string,
  sealed: string,
): PayerData => JSON.parse(box.open(sealed, ownerOf(paymentId))) as PayerData; // As sealPayer wrote it.

/**
 * The payer as a gateway gets to know them. Without the key it gets no data, and the payment is opened all the same.
 * @param sealed null: nothing, or nothing any more
 */
export const readPayer = (
  box: Pick<SecretBox, 'open'>,
  { id, sealed, locale }: { id: string; sealed: string | null; locale: string | null },
  onUnreadable?: (error: unknown) => void,
): Payer => {
  const known = locale === null ? {} : { locale };
  if (sealed === null) return known;
  try {
    return { ...openPayer(box, id, sealed), ...known };
  } catch (error) {
    onUnreadable?.(error);
    return known;
  }
};

/** Inserts the data of the payer, unless `payment` is empty: a part of the statement that creates the payment. */
export const insertPayer = (sql: Queries, sealed: string): Fragment => sql`
  insert into payers (payment_id, sealed) select id, ${sealed} from payment`;

/** A part of the statement that records an opening or an end. */
export const erasePayer = (sql: Queries, paymentId: Fragment): Fragment => sql`
  delete from payers where payment_id = ${paymentId}`;

/** A part of the statement that records the end of a test: it erases the data that the sandbox has kept for its page. */
export const eraseSandboxPayer = (sql: Queries, paymentId: Fragment): Fragment => sql`
  update sandbox_payments set payer = null where payment_id = ${paymentId} and payer is not null`;

export const createPayers = (sql: Queries) => ({
  /**
   * Erases the data of payers that have waited for longer than any payment may be open, also at the sandbox.
   * @returns how many that nobody has opened, at most `limit`
   */
  async eraseOld(limit: number): Promise<number> {
    const { count } = await sql`
      with at_sandbox as (
        update sandbox_payments set payer = null where reference = any(array(
          select reference from sandbox_payments
          where payer is not null and created_at < now() - interval '25 hours'
          order by created_at limit ${limit})))
      delete from payers where payment_id = any(array(
        select payment_id from payers where created_at < now() - interval '25 hours'
        order by created_at limit ${limit}))`;
    return count;
  },
});
export type Payers = ReturnType<typeof createPayers>;
