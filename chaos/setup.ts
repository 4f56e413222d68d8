import { tokenScopes } from '../contract/token.ts';
import { sealCredentials } from '../gateways/registry.ts';
import { createApplications } from '../postgres/applications/applications.ts';
import { connect } from '../postgres/driver/connection.ts';
import { createGateways } from '../postgres/gateways/gateways.ts';
import { createSecretBox } from '../postgres/secrets/secret-box.ts';
import { createTokens } from '../postgres/applications/tokens.ts';
import { createWebhookSecrets } from '../postgres/secrets/webhook-secrets.ts';
import type { Production } from '../tools/production/production.ts';
import type { Gateway } from './gateways.ts';
import type { Receiver } from './receiver.ts';

/** Makes the gateways' accounts and one application, as an admin does once. Returns its token. */
export const setUp = async (
  {
    databaseUrl,
    keyRing,
    webhookKeyRing,
    notificationKeyRing,
  }: Pick<Production, 'databaseUrl' | 'keyRing' | 'webhookKeyRing' | 'notificationKeyRing'>,
  {
    gateways,
    receiver,
    ordersPaidOnce = false,
  }: {
    gateways: readonly (Pick<Gateway, 'slug' | 'credentials'> &
      Partial<Pick<Gateway, 'driver' | 'fallbacks'>>)[];
    receiver: Pick<Receiver, 'url' | 'trust'>;
    ordersPaidOnce?: boolean;
  },
): Promise<string> => {
  const sql = connect(databaseUrl, { name: 'payments-chaos', max: 1 });
  try {
    const seals = {
      secretBox: () => createSecretBox(keyRing),
      notificationBox: () => createSecretBox(notificationKeyRing, 'NOTIFICATIONS_KEY'),
    };
    for (const { slug, driver = slug, credentials } of gateways)
      await createGateways(sql).insert({
        slug,
        driver,
        kind: 'sandbox',
        ...sealCredentials({ slug, driver, credentials }, seals),
      });
    const application = 'chaos';
    const first = gateways.find(({ fallbacks = [] }) => fallbacks.length > 0) ?? gateways[0];
    await createApplications(sql).insert({
      slug: application,
      defaultGateway: first?.slug ?? '',
      fallbackGateways: [...(first?.fallbacks ?? [])],
      allowedGateways: gateways.map(({ slug }) => slug),
      callbackUrls: ['http://127.0.0.1:9/return'],
      webhookUrl: receiver.url,
      requestsPerMinute: 1_000_000,
      ordersPaidOnce,
    });
    await sql`update applications set refund_events = true`;
    const webhookBox = createSecretBox(webhookKeyRing, 'WEBHOOKS_KEY');
    receiver.trust(await createWebhookSecrets(sql).issue(application, webhookBox));
    return await createTokens(sql).issue({
      application,
      mode: 'test',
      name: 'chaos',
      scopes: tokenScopes,
    });
  } finally {
    await sql.end();
  }
};
