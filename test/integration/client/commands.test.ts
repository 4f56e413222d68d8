import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verify } from '../../../client/src/webhooks.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { startReceiver } from '../../support/service/receiver.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';
import { listenForTest } from '../../support/servers/listen.ts';

const { folder, application } = await packAndInstall();
const program = join(application, 'node_modules/.bin/example-payments');
const service = await forFile(useService());

let token = '';
beforeEach(async () => ({ token } = await service.anApplication()));

/** Runs the command of the installed package, or one of the machine. */
const start = (args: string[], env: Record<string, string> = {}, command = program) => {
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      // The command begins with `env node`.
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      PAYMENTS_BASE_URL: service.url,
      PAYMENTS_TOKEN: token,
      ...env,
    },
  });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.errors += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  return { output, ended, press: (key: string) => child.stdin.write(key) };
};
const run = async (args: string[], env?: Record<string, string>) => {
  const { output, ended } = start(args, env);
  return { code: await ended, ...output };
};
const eventIdIn = (text: string) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)?.[0] ?? '';

describe('payments trigger', () => {
  it('makes a payment that ends as wanted, and prints its event', async () => {
    const line = 'trigger paid --order o-1 --minor-units 700';
    const { code, text, errors } = await run(line.split(' '));
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(text).toMatch(
      /^PAY_\w+ for order o-1: waiting for its event …\n.* payment\.paid .* o-1\n$/,
    );
  });

  it('passes the failure code on', async () => {
    const { text } = await run(['trigger', 'failed', '--failure-code', 'insufficient_funds']);
    const shown = await run(['events', 'show', eventIdIn(text)]);
    expect(JSON.parse(shown.text)).toMatchObject({
      event: 'payment.failed',
      payload: { failure_code: 'insufficient_funds' },
    });
  });

  it('prints the message of the service for an unknown outcome, with the fields', async () => {
    const { code, errors } = await run(['trigger', 'rich']);
    expect(code).toBe(1);
    expect(errors).toContain('VALIDATION_FAILED');
    expect(errors).toMatch(/^ {2}sandbox\.outcome: /m);
    expect(errors).not.toContain(token);
  });
});

it('payments events lists events by their filters, replays one, and shows both rounds', async () => {
  await run(['trigger', 'paid', '--order', 'o-1']);
  await run(['trigger', 'cancelled', '--order', 'o-2']);
  const all = await run(['events', 'list']);
  expect(all.text.trim().split('\n')).toEqual([
    expect.stringContaining('payment.cancelled'),
    expect.stringContaining('payment.paid'),
  ]);
  const one = await run(['events', 'list', '--order', 'o-1', '--json']);
  const { event_id: id } = JSON.parse(one.text) as { event_id: string };
  await until('it is delivered', async () =>
    (await run(['events', 'list', '--delivery', 'delivered'])).text.includes(id),
  );
  // As if the round had begun longer ago than repeated requests count as one.
  await service.sql`
    update deliveries set round_began_at = round_began_at - interval '11 seconds'
    where event_id = ${id}`;
  expect(await run(['events', 'replay', id])).toMatchObject({
    code: 0,
    text: expect.stringContaining('Round 2 is pending') as string,
  });
  expect((await run(['events', 'list', '--limit', '1'])).text.split('\n')).toHaveLength(2);
});

it('prints no text of others that controls a terminal, and all of it as JSON', async () => {
  const order = 'a\u001b[31m\u009b2J\u202e\u2028b\u{e0041}';
  const { text } = await run(['trigger', 'paid', '--order', order]);
  const shown = [
    text,
    (await run(['events', 'list'])).text,
    (await run(['events', 'list', '--json'])).text,
    (await run(['events', 'show', eventIdIn(text)])).text,
    (await run([`a\u009b2J\u202e`])).errors,
  ];
  for (const one of shown)
    for (const line of one.trimEnd().split('\n')) {
      expect(line).not.toBe('');
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
  expect(JSON.parse(shown[2] ?? '')).toMatchObject({ order_id: order });
  expect(JSON.parse(shown[3] ?? '')).toMatchObject({ payload: { order_id: order } });
});

/** Passes requests on to the service, and holds the first list of events back until the act is done. */
const aSlowFirstLook = async (act: () => Promise<unknown>): Promise<string> => {
  let acting: Promise<unknown> | undefined;
  const server = createServer(({ url = '', headers }, response) => {
    const answer = async () => {
      if (url.startsWith('/api/v1/events?')) await (acting ??= act());
      const { authorization = '' } = headers;
      const passed = await fetch(service.url + url, { headers: { authorization } });
      response
        .writeHead(passed.status, { 'content-type': 'application/json' })
        .end(await passed.text());
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
  return `http://127.0.0.1:${await listenForTest(server)}`;
};

const aReceiver = async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  return receiver;
};

describe('payments listen', () => {
  it('runs in the background of a terminal', async () => {
    const command = `${program} listen --forward-to http://127.0.0.1:9`;
    const inBackground = `bash -mc '${command} & trap "kill $!" EXIT; wait'`;
    const { output } = start(['--quiet', '--command', inBackground, '/dev/null'], {}, 'script');
    await expect.poll(() => output.text, { timeout: 60_000 }).toContain('Ready.');
  });

  it('posts new events with a signature of its own, and sends the last again for r', async () => {
    const receiver = await aReceiver();
    await run(['trigger', 'paid', '--order', 'before']);
    const { output, press } = start(['listen', '--forward-to', receiver.url]);
    const secret = await until(
      'it is ready',
      () => /signed with (whsec_\w+);/.exec(output.text)?.[1],
    );

    await run(['trigger', 'paid', '--order', 'o-1']);
    const first = await until('the event is forwarded', () => receiver.all[0]);
    expect(first.json).toMatchObject({ event: 'payment.paid', order_id: 'o-1' });
    const id = String(first.json['payment_id']);
    const delivered = await until('the service delivers it', () => service.receiver.of(id)[0]);
    expect(first.body.equals(delivered.body)).toBe(true);
    const signature = first.headers['x-service-signature'];
    expect(await verify({ body: first.body, signature, secret })).toEqual(first.json);
    expect(Object.keys(delivered.headers).filter((name) => name.startsWith('x-service-'))).toEqual(
      Object.keys(first.headers).filter((name) => name.startsWith('x-service-')),
    );
    await until('it is reported', () => output.text.includes('o-1: 204 in'));

    press('r');
    const again = await until('it is sent again', () => receiver.all[1]);
    expect(again.headers['x-service-delivery-attempt']).toBe('2');
    expect(again.body.equals(first.body)).toBe(true);
    expect(receiver.all.map(({ json }) => json['order_id'])).toEqual(['o-1', 'o-1']);
  });

  it('posts an event that comes before its first look, and none from before its start', async () => {
    await run(['trigger', 'paid', '--order', 'before']);
    // Older than the second in which the service tells its time.
    await service.sql`
      update events set created_at = created_at - interval '10 seconds'
      where payment_id in (select id from payments where order_id = 'before')`;
    const receiver = await aReceiver();
    // The listener's first look waits until another event is there.
    const proxy = await aSlowFirstLook(() => run(['trigger', 'paid', '--order', 'early']));
    const { output } = start(['listen', '--forward-to', receiver.url], {
      PAYMENTS_BASE_URL: proxy,
    });
    await until('it is forwarded', () => output.text.includes('early: 204'));
    expect(receiver.all.map(({ json }) => json['order_id'])).toEqual(['early']);
  });

  it('prints its secret with --print-secret, and nothing else', async () => {
    const { output } = start(['listen', '--forward-to', 'http://127.0.0.1:9']);
    const secret = await until('it is ready', () => /with (whsec_\w+);/.exec(output.text)?.[1]);
    expect(await run(['listen', '--print-secret'])).toMatchObject({ code: 0, text: `${secret}\n` });
  });

  it('posts older events first with --from', async () => {
    const receiver = await aReceiver();
    for (const order of ['o-1', 'o-2']) await run(['trigger', 'paid', '--order', order]);
    start(['listen', '--forward-to', receiver.url, '--from', '1h']);
    await until('both are forwarded', () => receiver.all[1]);
    expect(receiver.all.map(({ json }) => json['order_id'])).toEqual(['o-1', 'o-2']);
  });
});

describe('payments', () => {
  const live = `svc_live_${'x'.repeat(43)}`;
  const listening = ['listen', '--forward-to', 'http://127.0.0.1:9'];
  it.each([
    [listening, 'listen is for test tokens only', live],
    [['trigger', 'paid'], 'trigger is for test tokens only', live],
    [['events', 'replay', '1'], 'add --live', live],
    [['pay'], 'There is no command pay'],
    [['trigger'], 'needs one word more'],
    [['events', 'list', '--from', '1h'], 'has no option --from'],
    [['listen'], 'needs --forward-to'],
    [[...listening, '--from', 'soon'], '1h'],
    [['events', 'list', '--unknown'], '--unknown'],
  ])('ends with 2 and one sentence for %j', async (args, message, own = token) => {
    const { code, text, errors } = await run(args, { PAYMENTS_TOKEN: own });
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(errors).toContain(message);
    expect(errors.trim().split('\n')).toHaveLength(1);
  });

  it('reads the token from a file, and shows no stack for a missing one', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, `${token}\n`);
    chmodSync(file, 0o600);
    const settings = { PAYMENTS_TOKEN: '', PAYMENTS_TOKEN_FILE: file };
    expect(await run(['events', 'list'], settings)).toMatchObject({
      code: 0,
      text: 'There is no such event.\n',
    });
    const missing = await run(['events', 'list'], { ...settings, PAYMENTS_TOKEN_FILE: '/none' });
    expect(missing.code).toBe(1);
    expect(missing.errors.trim().split('\n')).toHaveLength(1);
  });

  it('prints the commands for --help', async () => {
    expect((await run(['--help'])).text).toContain('example-payments listen --forward-to URL');
  });
});
