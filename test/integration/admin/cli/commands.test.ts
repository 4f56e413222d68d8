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
  const shown = async () => operations.applications.get('typed');
  await change('gateways add toy --driver sandbox', 'gateway.add');
  const create =
    'applications create typed --gateway sandbox --fallback-gateway toy --allowed-gateway toy sandbox';
  await change(
    `${create} --callback-url https://a.example/1 https://a.example/2 --webhook-url https://a.example/hook ` +
      '--requests-per-minute 77 --refund-events on --dispute-events on --orders-paid-once no --locale fa --display-name \tShop\t',
    'application.create',
  );
  expect(await shown()).toMatchObject({
    ...{ status: 'active', defaultGateway: 'sandbox', fallbackGateways: ['toy'] },
    allowedGateways: ['toy', 'sandbox'],
    callbackUrls: ['https://a.example/1', 'https://a.example/2'],
    ...{ webhookUrl: 'https://a.example/hook', requestsPerMinute: 77, refundEvents: true },
    ...{ disputeEvents: true, ordersPaidOnce: false, displayName: 'Shop', locale: 'fa' },
  });
  await change(
    'applications update typed --gateway toy --fallback-gateway sandbox --allowed-gateway toy --callback-url https://a.example/3 ' +
      '--requests-per-minute 7 --refund-events off --dispute-events off --orders-paid-once yes --locale tr --display-name Till',
    'application.update',
  );
  const updated = {
    ...{ status: 'active', defaultGateway: 'toy', fallbackGateways: ['sandbox'] },
    allowedGateways: ['toy'],
    ...{ callbackUrls: ['https://a.example/3'], requestsPerMinute: 7, refundEvents: false },
    ...{ disputeEvents: false, ordersPaidOnce: true, locale: 'tr' },
  };
  expect(await shown()).toMatchObject({
    ...updated,
    ...{ webhookUrl: 'https://a.example/hook', displayName: 'Till' },
  });
  const remove =
    'applications update typed --no-webhook-url --no-display-name --no-allowed-gateway';
  await change(remove, 'application.update');
  const removed = { webhookUrl: null, displayName: null, allowedGateways: [] };
  expect(await shown()).toMatchObject({ ...updated, ...removed });
  expect(
    (await runLine(() => operations, words('applications update typed --locale xx'))).code,
  ).toBe(2);
  await change('applications disable typed', 'application.disable');
  expect(await shown()).toMatchObject({ status: 'disabled' });
  await change('applications enable typed', 'application.enable');
  expect(await shown()).toMatchObject({ status: 'active' });
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

it('tokens replace issues another token, and ends the old one at once or in some days', async () => {
  const issue = 'tokens issue shop --mode test --name kept --scopes read --json';
  const { id } = JSON.parse(await change(issue, 'token.issue')) as { id: string };
  const replace = `tokens replace shop ${id} --keep-old-days 7 --json`;
  const replaced = JSON.parse(await change(replace, 'token.replace')) as { id: string };
  expect((await operations.tokens.get('shop', id)).revokedAt).toBeNull();
  await change(`tokens replace shop ${replaced.id} --yes`, 'token.replace');
  expect((await operations.tokens.get('shop', replaced.id)).revokedAt).not.toBeNull();
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
  const id = await records.exhausted();
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
  ['accounts month 2026-13', 2, 'no month like 2026-11'],
  ['accounts month 2926-11', 2, 'in the future'],
  ['export month 2026-11 --application shp', 1, 'no application "shp"'],
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
