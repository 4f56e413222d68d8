import { changesOne, first, type Queries } from '../driver/sql.ts';

export interface Passkey {
  id: Buffer;
  name: string;
  publicKey: Buffer;
  /** How often it was used, as it says itself; 0 if it does not count. */
  counter: number;
}

export interface ListedPasskey {
  /** In base64url. */
  id: string;
  label: string;
  createdAt: Date;
  usedAt: Date | null;
}

const passkeysMax = 10;

/** The passkeys of the people who may enter the web console. */
export const createConsolePasskeyQueries = (sql: Queries) => ({
  /** @returns false if the passkey exists, or the person has ten */
  insert: ({ id, name, publicKey, counter }: Passkey, label: string) =>
    changesOne(sql`
      insert into console_passkeys (id, name, label, public_key, counter)
      select ${id}::bytea, ${name}, ${label}, ${publicKey}::bytea, ${counter}::bigint
      where (select count(*) from console_passkeys where name = ${name}) < ${passkeysMax}
      on conflict do nothing`),

  get: (id: Buffer) =>
    first(sql<Passkey[]>`
      select id, name, public_key as "publicKey", counter from console_passkeys where id = ${id}`),

  async list(name: string): Promise<ListedPasskey[]> {
    const rows = await sql<(Omit<ListedPasskey, 'id'> & { id: Buffer })[]>`
      select id, label, created_at as "createdAt", used_at as "usedAt" from console_passkeys
      where name = ${name} order by created_at limit ${passkeysMax}`;
    return rows.map((row) => ({ ...row, id: row.id.toString('base64url') }));
  },

  /** @returns the label; undefined if the person has no such passkey */
  async delete(name: string, id: string): Promise<string | undefined> {
    const [row] = await sql<{ label: string }[]>`
      delete from console_passkeys where name = ${name} and id = ${Buffer.from(id, 'base64url')}
      returning label`;
    return row?.label;
  },
});
