import type { EventKind } from '../../contract/event.ts';
import { limits } from '../../contract/limits.ts';
import { first, type Queries } from '../driver/sql.ts';
import { isActive } from '../secrets/webhook-secrets.ts';

/** The answer of a receiver to a sample. */
export interface WebhookTestResult {
  /** The body of the sample; null if there was no URL to send it to. */
  sent: string | null;
  durationMs: number | null;
  responseStatus: number | null;
  errorClass: string | null;
  responseBody: string | null;
  responseTruncated: boolean;
}

/** A requested test, as the worker needs it. */
export interface RequestedTest {
  application: string;
  kind: EventKind;
  defaultGateway: string;
  webhookUrl: string | null;
  traceparent: string | null;
  /** Sealed, see secrets/secret-box.ts; newest first. */
  secrets: string[];
}

export const createWebhookTests = (sql: Queries) => ({
  /**
   * Records the request for a sample, and deletes the application's old records. Call it in a transaction: of
   * simultaneous calls each counts those before it.
   * @returns the seconds until the next one is allowed, if there were too many in the last minute
   */
  async insert(test: {
    id: string;
    application: string;
    kind: EventKind;
    /** The trace of the request; null: an admin asks. */
    traceparent?: string | null;
  }): Promise<{ retryAfterSeconds: number } | undefined> {
    const { id, application, kind, traceparent = null } = test;
    await sql`select pg_advisory_xact_lock(hashtextextended(${`webhook test of ${application}`}, 0))`;
    const [row] = await sql<{ recent: number; retryAfter: number }[]>`
      select count(*) as recent,
        ceil(extract(epoch from min(requested_at) + interval '1 minute' - now()))::int as "retryAfter"
      from (
        select requested_at from webhook_tests
        where application = ${application} and requested_at > now() - interval '1 minute'
        order by requested_at desc limit ${limits.webhookTestsPerMinute}) as latest`;
    if (row && row.recent >= limits.webhookTestsPerMinute)
      return { retryAfterSeconds: Math.max(row.retryAfter, 1) };
    await sql`
      with old as (
        delete from webhook_tests
        where application = ${application} and requested_at < now() - interval '1 day'
      )
      insert into webhook_tests (id, application, kind, requested_at, traceparent)
      values (${id}::uuid, ${application}, ${kind}, now(), ${traceparent})`;
    return undefined;
  },

  get: (id: string) =>
    first(sql<RequestedTest[]>`
      select t.application, t.kind, a.default_gateway as "defaultGateway", a.webhook_url as "webhookUrl", t.traceparent,
        array(
          select s.ciphertext from webhook_secrets s
          where s.application = t.application and ${isActive(sql)}
          order by s.id desc
        ) as secrets
      from webhook_tests t join applications a on a.slug = t.application
      where t.id = ${id}::uuid and t.completed_at is null`),

  async complete(id: string, result: WebhookTestResult): Promise<void> {
    await sql`
      update webhook_tests set completed_at = now(), sent = ${result.sent},
        duration_ms = ${result.durationMs}, response_status = ${result.responseStatus},
        error_class = ${result.errorClass}, response_body = ${result.responseBody},
        response_truncated = ${result.responseTruncated}
      where id = ${id}::uuid`;
  },

  getResult: (id: string) =>
    first(sql<WebhookTestResult[]>`
      select sent, duration_ms as "durationMs", response_status as "responseStatus",
        error_class as "errorClass", response_body as "responseBody",
        response_truncated as "responseTruncated"
      from webhook_tests where id = ${id}::uuid and completed_at is not null`),
});
export type WebhookTests = ReturnType<typeof createWebhookTests>;
