import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import { createWebhookSecrets } from '../../../postgres/secrets/webhook-secrets.ts';
import type { Credentials } from '../../../stack/connection-file.ts';
import { application, prepareDatabase } from '../../../stack/demo-application.ts';
import { aDatabase, type Database } from '../../support/data/database.ts';

let database: Database;
beforeEach(async () => {
  database = await aDatabase();
  onTestFinished(database.drop);
});

const aKeyRing = (byte: number) => ({
  currentId: 'k1',
  keys: new Map([['k1', Buffer.alloc(32, byte)]]),
});
const keyRing = aKeyRing(1);

const prepare = (
  known?: Credentials,
  options: { shopUrl?: string; keyRing?: typeof keyRing } = {},
) => prepareDatabase(database.url, { shopUrl: 'http://127.0.0.1:1', keyRing, known, ...options });

const readCaller = ({ token }: Credentials) => createTokens(database.sql).authenticate(token);

it('makes the demo application, and keeps its credentials at the next start', async () => {
  const first = await prepare();

  expect(await prepare(first, { shopUrl: 'http://127.0.0.1:2' })).toEqual(first);
  expect(await readCaller(first)).toMatchObject({
    application,
    callbackUrls: ['http://127.0.0.1:2/return'],
  });
});

it('issues new credentials when the earlier ones are lost', async () => {
  const lost = await prepare();

  const issued = await prepare();

  expect(issued.token).not.toBe(lost.token);
  expect(issued.webhook_secret).not.toBe(lost.webhook_secret);
  expect(await readCaller(issued)).toMatchObject({ application });
});

it('returns a webhook secret that an admin has rotated', async () => {
  const first = await prepare();
  const rotation = { box: createSecretBox(keyRing), overlap: '0 seconds' };
  const rotated = await createWebhookSecrets(database.sql).rotate(application, rotation);

  expect(await prepare(first)).toEqual({ ...first, webhook_secret: rotated });
});

it('issues a webhook secret when another key sealed the one in use', async () => {
  const first = await prepare();
  const otherRing = aKeyRing(2);

  const second = await prepare(first, { keyRing: otherRing });

  expect(second.token).toBe(first.token);
  const sealed = await createWebhookSecrets(database.sql).listSealed(application);
  const box = createSecretBox(otherRing);
  expect(sealed.map((one) => box.open(one, application))).toEqual([second.webhook_secret]);
});
