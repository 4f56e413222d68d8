import { commands } from '../../../../admin/cli/program.ts';
import { version } from '../../../../contract/version.ts';
import { eventId } from '../../../../contract/ids.ts';
import { createWebhookTests } from '../../../../postgres/webhooks/webhook-tests.ts';
import { describe, expect, it } from 'vitest';
import { type RunLine, runLine, words } from '../../../support/service/admin-line.ts';
import {
  aKeyRing,
  emptyTemporal,
  operationsOn,
} from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const keyRing = aKeyRing();
const records = await forFile(startRecords());
await operationsOn(records.sql, { webhookKeyRing: keyRing }).secrets.rotate('shop', null);

const run: RunLine = (line, options) =>
  runLine(
    (actor) => operationsOn(records.sql, { webhookKeyRing: keyRing, ...(actor && { actor }) }),
    line,
    options,
  );

describe('the admin command line', () => {
  const lines = commands.flatMap((each) =>
    'commands' in each
      ? [each.name, ...each.commands.map(({ usage }) => `${each.name} ${words(usage)[0]}`)]
      : [words(each.usage)[0] ?? ''],
  );
  it.each(['', ...lines])('prints examples for %j --help, without a connection', async (line) => {
    const { code, out, actors } = await run([...words(line).filter(Boolean), '--help']);
    expect(code).toBe(0);
    expect(out).toContain('Usage: npm run admin --');
    expect(out).toMatch(/Examples:\n {2}npm run admin/);
    expect(actors).toEqual([]);
  });

  it('prints the version of the service, without a connection', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: version, actors: [] });
  });

  it.each([
    'nonsense',
    'applications',
    'applications nonsense',
    'applications show',
    'applications show shop extra',
    'tokens issue shop --mode both --name a',
    'tokens issue shop --mode live',
    'tokens issue shop --mode live --name a --scopes wrong',
    'payments find --status done',
    'payments find --limit 0',
    'deliveries list --limit many',
    'reconcile --since yesterday',
    'reconcile --since 2026-02-30T00:00:00Z',
    'audit --verify --noted 3',
    'audit --verify --actor ada',
    'payments find --order one --order two',
    'payments find --status paid --status failed',
    'payments find --order ',
    'payments find --ordre one',
    'payments cancel PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --reason ',
    'applications update shop --webhook-url https://shop.example/ --no-webhook-url',
    'deliveries replay PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --rate 5 --yes',
    // `--as "$USER"` without that variable.
    'applications disable shop --as ',
  ])('exits with 2 for the wrong usage %j', async (line) => {
    const { code, out, notes, actors } = await run(words(line));
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(notes).not.toBe('');
    expect(actors).toEqual([]);
  });

  it('names a subject without audit records', async () => {
    const { out } = await run(words('audit --subject currency:EUR'));
    expect(out.trim()).toBe('The audit log has no entry for currency:EUR.');
  });

  it.each([
    'applications show unknown',
    'tokens list unknown',
    'secrets list unknown',
    'deliveries list --application unknown',
    'deliveries replay --application unknown --yes',
    'payments find --application unknown',
    'webhook test unknown',
  ])('prints one sentence and exits with 1 for a refusal: %s', async (line) => {
    expect(await run(words(line))).toMatchObject({
      code: 1,
      out: '',
      notes: 'There is no application "unknown".',
    });
  });

  it.each(['whsec_abc', '1.5', '-1', '12 '])('refuses the secret id %j', async (id) => {
    expect(await run(['secrets', 'retire', '--yes', '--', 'shop', id])).toMatchObject({
      code: 2,
      out: '',
      notes: expect.not.stringContaining(id),
    });
  });

  it('prints a table, or JSON for programs', async () => {
    const people = await run(words('applications list'));
    expect(people.code).toBe(0);
    expect(people.out.split('\n')[0]).toMatch(/^SLUG +STATUS +GATEWAY/);
    expect(people.out).toContain('shop');
    const programs = await run(words('applications list --json'));
    const [first] = JSON.parse(programs.out) as Record<string, unknown>[];
    expect(first).toMatchObject({
      slug: 'quiet',
      default_gateway: 'sandbox',
      webhook_url: null,
      created_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
    });
  });

  it('asks for a confirmation, and acts only on yes', async () => {
    const { tokens } = operationsOn(records.sql);
    const token = { application: 'shop', mode: 'test', name: 'a\u202eb', expiresAt: null } as const;
    await tokens.issue(token, null);
    const id = (await tokens.list('shop', 100))[0]?.id ?? '';
    const line = ['tokens', 'revoke', 'shop', id];
    const isRevoked = async () => (await tokens.list('shop', 100))[0]?.revokedAt !== null;

    const script = await run(line);
    expect(script).toMatchObject({ code: 1, actors: [] });
    expect(script.notes).toContain('Add --yes');
    const no = await run(line, { answer: 'no' });
    expect(no).toMatchObject({ code: 1, notes: 'Nothing was done.' });
    expect(no.questions[0]).toContain('cannot be undone');
    expect(await isRevoked()).toBe(false);
    const yes = await run(line, { answer: 'yes' });
    expect(yes).toMatchObject({ code: 0, out: expect.stringMatching(/^Revoked: .*… \(ab\)$/) });
    expect(await isRevoked()).toBe(true);
    expect((await run([...line, '--yes'])).notes).toContain('is already revoked');
  });

  it('reads credentials from a prompt or a pipe, and never prints them', async () => {
    const secret = '{"merchant":"very-secret"}';
    const line = words('gateways add acme --driver zibal --kind live --reason new');
    const added = await run(line, { secret });
    expect(added.code).toBe(0);
    const shown = [added, await run(words('gateways list --json')), await run(['audit', '--json'])];
    for (const { out, notes } of shown) expect(out + notes).not.toContain('very-secret');
    const replace = words('gateways update acme --yes --reason rotated');
    const replaced = await run(replace, { secret: '{"merchant":"as-secret"}' });
    expect(replaced).toMatchObject({ code: 0, out: 'Updated: acme' });
    const other = words('gateways add other --driver zarinpal --kind live');
    const broken = await run(other, { secret: 'very-secret' });
    expect(broken).toMatchObject({ code: 1, notes: 'The credentials are not a JSON object.' });
    expect(await run(other, { secret: '{"merchantId":"very-secret"}' })).toMatchObject({
      code: 1,
      notes: 'The credentials do not fit the driver: merchantId is missing or wrong.',
    });
  });

  it('needs the kind of an account, except for the sandbox driver', async () => {
    expect(await run(words('gateways add kindless --driver zarinpal'))).toMatchObject({
      code: 2,
      out: '',
      notes: expect.stringContaining(
        'the driver zarinpal needs a --kind: live, or sandbox for its test environment',
      ),
      actors: [],
    });
    expect(await run(words('gateways add toy --driver sandbox --json'))).toMatchObject({ code: 0 });
    const { out } = await run(words('gateways list --json'));
    expect(JSON.parse(out)).toContainEqual(
      expect.objectContaining({ slug: 'toy', driver: 'sandbox', kind: 'sandbox' }),
    );
  });

  it('shows how the receivers of an application are', async () => {
    await records.sql`
      insert into receivers (application, test, state, since) values ('shop', false, 'failing', '2026-11-20T10:00:00Z')`;
    const { out } = await run(words('applications show shop'));
    expect(out).toMatch(
      /live receiver +does not accept events, since 2026-11-20T10:00:00.000\+00:00/,
    );
    expect(out).toMatch(/test receiver +no event to judge by/);
    const { out: json } = await run(words('applications show shop --json'));
    expect(JSON.parse(json)).toMatchObject({
      slug: 'shop',
      receivers: { live: { state: 'failing', last_error: null }, test: { state: 'ok' } },
    });
    await records.sql`delete from receivers`;
  });

  it('prints a new secret once, and never in a list', async () => {
    const create = 'applications create fresh --gateway sandbox --callback-url https://a.example/';
    const made = await run(words(`${create} --json`));
    const rotated = await run(words('secrets rotate shop --yes --json'));
    const issued = await run(words('tokens issue shop --mode live --name b --json'));
    const { webhook_secret: first } = JSON.parse(made.out) as { webhook_secret: string };
    const { secret } = JSON.parse(rotated.out) as { secret: string };
    const { token } = JSON.parse(issued.out) as { token: string };
    for (const each of [first, secret]) expect(each).toMatch(/^whsec_[0-9A-Za-z]{43}$/);
    for (const line of [
      'secrets list fresh --json',
      'secrets list shop --json',
      'tokens list shop --json',
      'applications show shop',
      'audit --limit 1000 --json',
    ]) {
      const { code, out } = await run(words(line));
      expect(code).toBe(0);
      for (const each of [first.slice(6), secret.slice(6), token.slice(13)])
        expect(out).not.toContain(each);
    }
  });

  it('prints no control characters of stored texts', async () => {
    const hostile = 'a\u001b[31mred\u0007\u009b2J\u202egnp\u200b\r\nb';
    const { id } = await records.ended('failed', { orderId: hostile });
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at,
        completed_at, duration_ms, response_status, error_class, error, response_body)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now(), now(), 1, 500, 'http_status', 'The receiver answered 500',
        ${hostile})`;
    const control = /[\p{Cc}\p{Cf}]/u;
    for (const line of [
      ['payments', 'show', id],
      ['payments', 'find', '--id', id],
    ]) {
      const people = await run(line);
      expect(people.code).toBe(0);
      for (const shown of people.out.split('\n')) expect(shown).not.toMatch(control);
      const programs = await run([...line, '--json']);
      for (const shown of programs.out.split('\n')) expect(shown).not.toMatch(control);
      // JSON escapes them, so programs get all of the text.
      expect(JSON.stringify(JSON.parse(programs.out))).toContain('u001b[31mred');
    }
    const asked = await run(['applications', 'show', hostile]);
    for (const shown of asked.notes.split('\n')) expect(shown).not.toMatch(control);
  });

  it('replays one delivery or several, and exits with 1 for a refusal', async () => {
    const [one, two] = [await records.exhausted(), await records.exhausted()];
    const list = await run(words('deliveries list --application shop --json'));
    expect(list.out).toContain(one);
    const first = await run(['deliveries', 'replay', one, '--yes']);
    expect(first).toMatchObject({ code: 0 });
    expect(await run(['deliveries', 'replay', one, '--yes'])).toMatchObject({
      code: 1,
      notes: expect.stringContaining('is due now'),
    });
    const mixed = await run(['deliveries', 'replay', one, two, '--yes']);
    expect(mixed.code).toBe(1);
    expect(mixed.out).toMatch(new RegExp(`${one} +refused`));
    expect(mixed.out).toMatch(new RegExp(`${two} +replayed`));
    for (const wrong of [
      'deliveries replay --yes',
      `deliveries replay ${one} --application shop --yes`,
    ])
      expect((await run(words(wrong))).notes).toContain('Name either events');
  });

  it('sends a sample webhook, and exits with 1 if it is not accepted', async () => {
    const url = 'http://127.0.0.1:9/sample?key=hidden';
    await run(['applications', 'update', 'shop', '--webhook-url', url]);
    const tests = createWebhookTests(records.sql);
    const body = '{"test":true,"order_id":"webhook-test"}';
    const nothing = { responseBody: null, responseTruncated: false };
    const answers = [
      { ...nothing, sent: body, durationMs: 4, responseStatus: 204, errorClass: null },
      {
        sent: body,
        durationMs: 5,
        responseStatus: 500,
        errorClass: 'http_status',
        responseBody: 'broken\u001b[2J',
        responseTruncated: false,
      },
      { ...nothing, sent: null, durationMs: null, responseStatus: null, errorClass: 'blocked' },
    ];
    /** Records the answers one by one, as a worker does. */
    const testWebhook = async (id: string) => tests.complete(id, answers.shift()!);
    const temporal = async () => ({ ...emptyTemporal, testWebhook });
    const test = (line: string) =>
      runLine(() => operationsOn(records.sql, { webhookKeyRing: keyRing, temporal }), words(line));

    const accepted = await test('webhook test shop');
    expect(accepted).toMatchObject({ code: 0 });
    expect(accepted.out).toMatch(/^result +accepted$/m);
    expect(accepted.out).not.toContain('hidden');
    const failed = await test('webhook test shop --json');
    expect(failed.code).toBe(1);
    expect(failed.out).not.toContain('\u001b');
    expect(JSON.parse(failed.out)).toMatchObject({
      error_class: 'http_status',
      response_status: 500,
      event: { test: true, order_id: 'webhook-test' },
    });
    expect(await test('webhook test shop --json')).toMatchObject({
      code: 1,
      out: expect.stringContaining('"event": null'),
    });
    expect((await test('webhook test quiet')).notes).toContain('has no webhook URL');
  });

  it('reads a webhook URL from a prompt or a pipe, and never prints its query', async () => {
    const secret = 'https://shop.example/hook?key=hidden';
    const create = 'applications create keyed --gateway sandbox --callback-url https://a.example/';
    const shown = [
      await run(words(`${create} --webhook-url -`), { secret }),
      await run(words('applications update shop --webhook-url -'), { secret }),
    ];
    for (const line of ['applications list', 'applications show shop', 'audit --limit 1'])
      for (const given of [line, `${line} --json`]) shown.push(await run(words(given)));
    for (const { code, out, notes } of shown) {
      expect([code, notes.includes('hidden'), out.includes('hidden')]).toEqual([0, false, false]);
      expect(out).toContain('https://shop.example/hook?…');
    }
    const urls = await records.sql`
      select webhook_url from applications where slug in ('keyed', 'shop')`;
    expect(urls).toEqual([{ webhook_url: secret }, { webhook_url: secret }]);
    expect(await run(words('applications update shop --webhook-url -'))).toMatchObject({
      code: 1,
      notes: 'Standard input has no webhook URL.',
    });
  });
});
