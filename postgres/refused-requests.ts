import type { FieldError } from '../contract/errors.ts';
import type { Queries } from './driver/sql.ts';

/** A request of an application that the API refused. */
export interface RefusedRequest {
  /** X-Request-Id. */
  id: string;
  application: string;
  method: string;
  /** The route's pattern. */
  route: string;
  status: number;
  code: string;
  /** Null unless the response names fields. */
  fields: readonly FieldError[] | null;
}

/** The newest of each application stay. */
export const keptRefusals = 100;

export const createRefusedRequests = (sql: Queries) => ({
  /** Writes these, and deletes the oldest of their applications. */
  async insert(requests: readonly RefusedRequest[]): Promise<void> {
    await sql`
      insert into refused_requests (id, application, method, route, status, code, fields)
      select id, application, method, route, status, code, fields
      from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as r
        (id text, application text, method text, route text, status int, code text, fields jsonb)`;
    const applications = [...new Set(requests.map(({ application }) => application))];
    await sql`
      delete from refused_requests where id in (
        select r.id from unnest(${applications}::text[]) as a (slug)
        cross join lateral (
          select id from refused_requests where application = a.slug
          order by at desc, id desc offset ${keptRefusals}) as r)`;
  },

  /** The newest first. */
  async list(application: string): Promise<(RefusedRequest & { at: Date })[]> {
    return sql<(RefusedRequest & { at: Date })[]>`
      select id, application, at, method, route, status, code, fields
      from refused_requests where application = ${application}
      order by at desc, id desc limit ${keptRefusals}`;
  },

  /** The application of the request, if it is one of the last that were refused. */
  async getApplication(id: string): Promise<string | undefined> {
    const [row] = await sql<{ application: string }[]>`
      select application from refused_requests where id = ${id}`;
    return row?.application;
  },
});
