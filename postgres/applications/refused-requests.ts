import type { FieldError } from '../../contract/errors.ts';
import type { Queries } from '../driver/sql.ts';

/** A request of an application that the API refused. */
export interface RefusedRequest {
  /** X-Request-Id. */
  id: string;
  application: string;
  /** The mode of its token. */
  test: boolean;
  method: string;
  /** The route's pattern. */
  route: string;
  status: number;
  code: string;
  /** Null unless the response names fields. */
  fields: readonly FieldError[] | null;
}

/** The newest of each application and mode stay. */
export const keptRefusals = 100;

export const createRefusedRequests = (sql: Queries) => ({
  /** Writes these, and deletes the oldest of their applications. */
  async insert(requests: readonly RefusedRequest[]): Promise<void> {
    await sql`
      insert into refused_requests (id, application, test, method, route, status, code, fields)
      select id, application, test, method, route, status, code, fields
      from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as r
        (id text, application text, test boolean, method text, route text, status int, code text, fields jsonb)`;
    const applications = [...new Set(requests.map(({ application }) => application))];
    await sql`
      delete from refused_requests where id in (
        select r.id from unnest(${applications}::text[]) as a (slug)
        cross join unnest('{false,true}'::boolean[]) as m (test)
        cross join lateral (
          select id from refused_requests where application = a.slug and test = m.test
          order by at desc, id desc offset ${keptRefusals}) as r)`;
  },

  /** The newest first, or the one of this id, which has one mode. */
  async list(
    application: string,
    wanted: { test: boolean } | { id: string },
  ): Promise<(RefusedRequest & { at: Date })[]> {
    return sql<(RefusedRequest & { at: Date })[]>`
      select id, application, test, at, method, route, status, code, fields
      from refused_requests where application = ${application}
        and ${'id' in wanted ? sql`id = ${wanted.id}` : sql`test = ${wanted.test}`}
      order by at desc, id desc limit ${keptRefusals}`;
  },

  /** The application of the request, if it is one of the last that were refused. */
  async getApplication(id: string): Promise<string | undefined> {
    const [row] = await sql<{ application: string }[]>`
      select application from refused_requests where id = ${id}`;
    return row?.application;
  },
});
