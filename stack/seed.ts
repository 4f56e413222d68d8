import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createApplications } from '../postgres/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways.ts';
import { migrate } from '../postgres/migrate.ts';
import { createSecretBox, type KeyRing, type SecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createWebhookSecrets } from '../postgres/webhook-secrets.ts';
import { SetupError } from '../process.ts';

/** What the demo application knows; both live in the connection file alone. */
const Credentials = z.object({ token: z.string(), webhook_secret: z.string() });
export type Credentials = z.infer<typeof Credentials>;

export interface SeedOptions {
  shopUrl: string;
  keyRing: KeyRing;
  /** Of an earlier start. */
  known: Credentials | undefined;
}

export const application = 'demo-shop';

/**
 * Brings the schema up to date and makes the demo application with its gateway. Can be repeated, and
 * be cut anywhere: credentials that never reached the connection file are replaced by new ones.
 * @throws SetupError
 */
export const prepareDatabase = async (url: string, options: SeedOptions): Promise<Credentials> => {
  const sql = connect(url, { name: 'payments-stack', max: 2, patient: true });
  try {
    await migrateOrThrow(sql);
    return await seed(sql, options);
  } finally {
    await sql.end();
  }
};

const migrateOrThrow = async (sql: Sql) => {
  try {
    await migrate(sql);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `The database cannot be brought to this version's schema (${reason}): use the version that made the data, or another database; data in DATA_DIR that nobody needs can be removed with it.`,
      { cause: error },
    );
  }
};

const seed = async (sql: Sql, { shopUrl, keyRing, known }: SeedOptions): Promise<Credentials> => {
  await createGateways(sql).insert(sandboxAccount);
  const applications = createApplications(sql);
  const urls = { callbackUrls: [`${shopUrl}/return`], webhookUrl: `${shopUrl}/webhook` };
  await applications.insert({ slug: application, defaultGateway: sandboxAccount.slug, ...urls });
  // The ports may be others than last time.
  await applications.setUrls(application, urls);
  const tokens = createTokens(sql);
  const caller = known && (await tokens.authenticate(known.token));
  const box = createSecretBox(keyRing);
  const secrets = createWebhookSecrets(sql);
  if (known && caller?.application === application) {
    const sealed = await secrets.listSealed(application);
    const inUse = sealed.map((one) => openOrNot(box, one));
    const [newest] = inUse;
    // Sealed by another key: of another data folder on this database, or before this one's was replaced.
    if (inUse.includes(undefined))
      return { ...known, webhook_secret: await secrets.issue(application, box) };
    // An admin may have rotated it, and the shop knows what this file says.
    return newest === undefined || inUse.includes(known.webhook_secret)
      ? known
      : { ...known, webhook_secret: newest };
  }
  return {
    webhook_secret: await secrets.issue(application, box),
    token: await tokens.issue({ application, mode: 'test', name: 'demo' }),
  };
};

const openOrNot = (box: Pick<SecretBox, 'open'>, sealed: string): string | undefined => {
  try {
    return box.open(sealed, application);
  } catch {
    return undefined;
  }
};

/** @throws SetupError when the database that DATABASE_URL names cannot be used */
export const reachDatabase = async (url: string): Promise<void> => {
  const sql = connect(url, { name: 'payments-stack', max: 1 });
  try {
    await sql`select 1`;
  } catch (error) {
    // Host and database only: the URL holds a password.
    const { host, pathname } = new URL(url);
    const reason = error instanceof Error ? error.message.replace(/[\s.]+$/, '') : String(error);
    throw new SetupError(
      `DATABASE_URL: cannot use the database ${pathname.slice(1)} at ${host} (${reason}): start or create it, correct the URL, or unset it to use the embedded one.`,
      { cause: error },
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
};

/** What of the credentials an earlier start has left. */
export const readCredentials = (path: string): Credentials | undefined => {
  try {
    return Credentials.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
};
