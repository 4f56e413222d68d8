import { changesOne, type Queries } from '../driver/sql.ts';

/** A list with its filter, which a person has given a name. */
export interface ConsoleView {
  name: string;
  /** The path and the query of the list. */
  address: string;
}

export const viewsMax = 20;

export const createConsoleViews = (sql: Queries) => ({
  /** The newer address of a name counts. @returns false if the person has too many */
  save: (person: string, { name, address }: ConsoleView) =>
    changesOne(sql`
      insert into console_views (person, name, address)
      select ${person}::text, ${name}::text, ${address}::text
      where (select count(*) from console_views where person = ${person} and name <> ${name}) < ${viewsMax}
      on conflict (person, name) do update set address = excluded.address`),

  async remove(person: string, name: string): Promise<void> {
    await sql`delete from console_views where person = ${person} and name = ${name}`;
  },
});
