import type { Sql } from './connection.ts';

export interface NewApplication {
  slug: string;
  defaultGateway: string;
  /** At least one; the first is the default. */
  callbackUrls: string[];
  webhookUrl: string | null;
}

export const createApplications = (sql: Sql) => ({
  /** Does nothing when the slug exists. */
  async insert({ slug, defaultGateway, callbackUrls, webhookUrl }: NewApplication): Promise<void> {
    await sql`
      insert into applications (slug, default_gateway, callback_urls, webhook_url)
      values (${slug}, ${defaultGateway}, ${callbackUrls}, ${webhookUrl})
      on conflict (slug) do nothing`;
  },

  async setUrls(
    slug: string,
    { callbackUrls, webhookUrl }: Pick<NewApplication, 'callbackUrls' | 'webhookUrl'>,
  ): Promise<void> {
    await sql`
      update applications set callback_urls = ${callbackUrls}, webhook_url = ${webhookUrl}
      where slug = ${slug}`;
  },
});
export type Applications = ReturnType<typeof createApplications>;
