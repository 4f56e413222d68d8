import { expect, it } from 'vitest';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { aKeyRing, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const operations = operationsOn(records.sql, { keyRing: aKeyRing() });

let lines = 0;

/** Runs a line that makes a change, and checks its action and reason in the audit log. */
const change = async (line: string, action: string, secret = '') => {
  const reason = `reason ${(lines += 1)}`;
  const ran = await runLine(() => operations, [...words(line), '--reason', reason], { secret });
  expect(ran, line).toMatchObject({ code: 0, notes: '' });
  expect(await operations.auditLog({ subject: null, limit: 1 })).toMatchObject([
    { action, reason },
  ]);
  return ran.out;
};

it('applications commands pass on every option', async () => {
  const create = 'applications create typed --gateway sandbox --webhook-url https://a.example/hook';
  await change(
    `${create} --callback-url https://a.example/1 https://a.example/2`,
    'application.create',
  );
  const typed = () => operations.applications.get('typed');
  const first = {
    status: 'active',
    defaultGateway: 'sandbox',
    requestsPerMinute: 120,
    callbackUrls: ['https://a.example/1', 'https://a.example/2'],
    webhookUrl: 'https://a.example/hook',
  };
  expect(await typed()).toMatchObject(first);
  await change('gateways add toy --driver sandbox', 'gateway.add');
  const update = 'applications update typed --callback-url https://a.example/3 --gateway toy';
  await change(`${update} --requests-per-minute 7`, 'application.update');
  const second = {
    status: 'active',
    defaultGateway: 'toy',
    requestsPerMinute: 7,
    callbackUrls: ['https://a.example/3'],
  };
  expect(await typed()).toMatchObject({ ...second, webhookUrl: first.webhookUrl });
  await change('applications update typed --no-webhook-url', 'application.update');
  expect(await typed()).toMatchObject({ ...second, webhookUrl: null });
  await change('applications disable typed', 'application.disable');
  expect(await typed()).toMatchObject({ status: 'disabled' });
  await change('applications enable typed', 'application.enable');
  expect(await typed()).toMatchObject({ status: 'active' });
});

it('tokens commands issue a token with a mode and an expiry, and revoke it', async () => {
  for (const mode of ['live', 'test']) {
    const issue = `tokens issue shop --mode ${mode} --name a --expires-in-days 2 --json`;
    const { token } = JSON.parse(await change(issue, 'token.issue')) as { token: string };
    expect(token).toMatch(new RegExp(`^svc_${mode}_`));
    const [listed] = await operations.tokens.list('shop', 1);
    expect(listed).toMatchObject({ mode, prefix: token.slice(0, 13), revokedAt: null });
    const days = ((listed?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(2, 1);
    await change(`tokens revoke shop ${listed?.id} --yes`, 'token.revoke');
  }
});

it('secrets commands rotate, retire, reseal and list keys', async () => {
  await change('secrets rotate shop --yes', 'secret.rotate');
  await change('secrets rotate shop --yes', 'secret.rotate');
  const [newer, older] = await operations.secrets.list('shop');
  await change(`secrets retire shop ${newer?.id} --yes`, 'secret.retire');
  expect(await operations.secrets.list('shop')).toMatchObject([{ id: older?.id }]);
  await change('secrets reseal', 'secret.reseal');
  const { code, out } = await runLine(() => operations, words('secrets list-keys'));
  expect([code, out]).toEqual([0, expect.stringMatching(/^WEBHOOKS_KEY +k1 +encrypts +\d+$/m)]);
});

it('gateways commands add, update, disable and enable', async () => {
  const credentials = '{"merchant":"m-1"}';
  await change('gateways add acme --driver zibal --kind live', 'gateway.add', credentials);
  await change('gateways update acme --yes', 'gateway.credentials', credentials);
  const acme = async () => (await operations.gateways.list()).find(({ slug }) => slug === 'acme');
  expect(await acme()).toMatchObject({ kind: 'live', enabled: true, hasCredentials: true });
  await change('gateways disable acme', 'gateway.disable');
  expect(await acme()).toMatchObject({ enabled: false });
  await change('gateways enable acme', 'gateway.enable');
  expect(await acme()).toMatchObject({ enabled: true });
});

it('purge and replay record the reason', async () => {
  await change('purge --yes', 'retention.purge');
  const { id } = await records.ended('paid');
  await records.sql`
    update deliveries set status = 'exhausted', next_attempt_at = null where payment_id = ${id}`;
  await change(`deliveries replay ${id} --yes`, 'delivery.replay');
  const { payment } = await operations.payments.get(id);
  expect(payment).toMatchObject({ delivery: 'pending', round: 2 });
});

it.each([
  [
    'export movements --from 2026-11-01 --to 2026-11-30 --gateway sandbxo',
    1,
    'no gateway "sandbxo"',
  ],
  [
    'export movements --from 2026-11-01 --to 2026-11-30 --application shp',
    1,
    'no application "shp"',
  ],
  ['export movements --from 2026-11-30 --to 2026-11-01', 2, 'is before --from'],
  ['export movements --from 2926-11-01 --to 2926-11-30', 2, 'in the future'],
  ['export movements --from 2026-02-30 --to 2026-03-01', 2, 'must be a day'],
  ['accounts days --gateway sandbxo', 1, 'no gateway "sandbxo"'],
  ['accounts days --from 2026-11-30 --to 2026-11-01', 2, 'is before --from'],
  ['accounts differences --gateway sandbxo', 1, 'no gateway "sandbxo"'],
  ['accounts differences --application shp', 1, 'no application "shp"'],
  ['accounts differences --day 2926-11-01', 2, 'in the future'],
  ['accounts compare sandbox 2026-02-30', 2, 'not a day'],
  ['payments find --id PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', 1, 'no payment PAY_'],
  ['refunds list --payment PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', 1, 'no payment PAY_'],
  ['reconcile --since 2926-11-01T00:00:00Z', 2, 'in the future'],
  ['audit --subject application:shp', 1, 'no application "shp"'],
  ['audit --subject gateway:sandbxo', 1, 'no gateway "sandbxo"'],
  ['audit --subject aplication:shop', 2, 'must be retention, or <kind>:<name>'],
])('says what is wrong instead of listing nothing: %s', async (line, code, why) => {
  const ran = await runLine(() => operations, words(line));
  expect(ran).toMatchObject({ code, out: '' });
  expect(ran.notes).toContain(why);
});
