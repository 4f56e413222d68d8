import { createApplications } from '../postgres/applications/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways, sandboxAccount } from '../postgres/gateways/gateways.ts';
import { migrate } from '../postgres/migrate.ts';
import { createSecretBox, type KeyRing, type SecretBox } from '../postgres/secrets/secret-box.ts';
import { createTokens } from '../postgres/applications/tokens.ts';
import { createWebhookSecrets } from '../postgres/secrets/webhook-secrets.ts';
import { tokenScopes } from '../contract/token.ts';
import { SetupError } from '../process.ts';
import type { Credentials } from './connection-file.ts';

export interface PrepareOptions {
  shopUrl: string;
  keyRing: KeyRing;
  /** The credentials of an earlier start. */
  known: Credentials | undefined;
}

export const application = 'demo-shop';

/**
 * Brings the schema up to date and makes the demo application with its gateway. Safe to repeat and to
 * interrupt: credentials that never reached the connection file are replaced by new ones.
 * @throws SetupError
 */
export const prepareDatabase = async (
  url: string,
  options: PrepareOptions,
): Promise<Credentials> => {
  const sql = connect(url, { name: 'payments-stack', max: 2, patient: true });
  try {
    await migrateOrThrow(sql);
    return await prepareApplication(sql, options);
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
      `The database cannot be brought to this version's schema (${reason}): use the version that made the data, or another database. To start without the data, remove DATA_DIR.`,
      { cause: error },
    );
  }
};

const prepareApplication = async (
  sql: Sql,
  { shopUrl, keyRing, known }: PrepareOptions,
): Promise<Credentials> => {
  await createGateways(sql).insert(sandboxAccount);
  const applications = createApplications(sql);
  const urls = { callbackUrls: [`${shopUrl}/return`], webhookUrl: `${shopUrl}/webhook` };
  await applications.insert({ slug: application, defaultGateway: sandboxAccount.slug, ...urls });
  // The ports can differ from those of the last start.
  await applications.setUrls(application, urls);
  // The shop gives money back, and knows the events of refunds. An order is paid once.
  const shop = await applications.get(application);
  if (shop && !(shop.refundEvents && shop.ordersPaidOnce))
    await applications.update(application, { ...shop, refundEvents: true, ordersPaidOnce: true });
  const tokens = createTokens(sql);
  const secrets = createWebhookSecrets(sql);
  const box = createSecretBox(keyRing);
  const caller = known && (await tokens.authenticate(known.token));
  if (!known || caller?.application !== application)
    return {
      token: await tokens.issue({ application, mode: 'test', name: 'demo', scopes: tokenScopes }),
      webhook_secret: await secrets.issue(application, box),
    };
  const sealed = await secrets.listSealed(application);
  const inUse = sealed.map((one) => openOrUndefined(box, one));
  // Sealed by another key: by another data folder on this database, or before the key was replaced.
  if (inUse.includes(undefined))
    return { ...known, webhook_secret: await secrets.issue(application, box) };
  // An admin can have rotated the secret, and the shop reads it from the connection file.
  if (inUse.includes(known.webhook_secret)) return known;
  return { ...known, webhook_secret: inUse[0] ?? known.webhook_secret };
};

const openOrUndefined = (box: Pick<SecretBox, 'open'>, sealed: string): string | undefined => {
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
