import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killContainersInTurn } from '../../chaos/compose.ts';
import { daysOf } from '../../chaos/restore-checks.ts';
import { whyNoEngine } from '../../tools/compose/engine.ts';
import { createShape, type Shape } from '../../tools/compose/shape.ts';
import { readProjectFile } from '../support/checks/project-files.ts';
import { signed, webhookSecret } from '../support/service/stripe-account.ts';
import { until } from '../support/until.ts';
import { createCardShop } from './card-shop.ts';
import { expectToUpgrade } from './upgraded.ts';
import { expectToBeWatched } from './watched.ts';

const reason = whyNoEngine();
if (reason) console.log(`The Compose shape is not tested here: ${reason}`);

/** The commands of the nth shell block below a heading of the guide, as they stand there. */
const guide = (heading: string, nth = 0): string[] => {
  const page = readProjectFile('docs/operating/deploying.md');
  const [, section = ''] = page.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const block = [...section.matchAll(/```sh\n([\s\S]*?)```/g)][nth]?.[1];
  if (block === undefined) throw new Error(`The guide has no block ${nth} below ${heading}`);
  return block.trim().split('\n');
};

describe.skipIf(reason !== undefined)('the Compose shape', () => {
  let shape: Shape;
  let token = '';
  beforeAll(async () => {
    shape = await createShape();
  });
  afterAll(() => shape?.stop());

  const compose = (line: string) => shape.sh(`docker compose ${line}`);
  const failing = async (script: string, variables = {}): Promise<string> =>
    shape.sh(script, variables).then(
      (said) => Promise.reject(new Error(`It did not fail: ${said}`)),
      (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
    );

  /** The payment of a new order, or of the order of its idempotency key. */
  const create = (headers: Record<string, string> = {}, amount = 1000) =>
    shape.call('/api/v1/payments', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({
        order_id: headers['idempotency-key'] ?? randomUUID(),
        amount,
        currency: 'EUR',
      }),
    });

  /**
   * Asks again at a 503 of the API, as every client does: a process whose Postgres is silent for seconds on a busy
   * machine responds so. The proxy, which an upgrade must not disturb, responds 502 or closes the connection.
   */
  const createAsClients = async (...request: Parameters<typeof create>) => {
    for (let asked = 1; ; asked += 1) {
      const answer = await create(...request);
      if (answer.status !== 503 || !answer.body.includes('SERVICE_UNAVAILABLE') || asked === 4)
        return answer;
      await sleep(1_000 * asked);
    }
  };

  const run = async (commands: string[]) => {
    for (const command of commands) await shape.sh(command);
  };

  /** Pays as a browser does. @returns how the payment ended, by the address of the shop */
  const pay = async (id: string): Promise<string | null> => {
    const page = (path: string, body?: string) =>
      shape.call(path, {
        ...(body !== undefined && { method: 'POST', body }),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        from: anyClient(),
      });
    // On a busy machine the opening and the verification take longer than a page waits, and the payer loads it again.
    const checkout = `/api/v1/payments/${id}/checkout`;
    await until('it is open', async () => (await page(checkout)).location);
    const { pathname, search } = new URL(
      (await page(`/api/v1/sandbox/${id}`, 'action=pay')).location,
    );
    return until(`${id} has an outcome`, async () => {
      const status = new URL((await page(pathname + search)).location).searchParams.get('status');
      return status !== 'processing' && status;
    });
  };
  let clients = 0;
  const anyClient = () =>
    shape.clientAddresses[(clients += 1) % shape.clientAddresses.length] ?? '';

  const expectOnePurchase = async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    const { payment_id: id } = JSON.parse(body) as { payment_id: string };
    expect(await pay(id)).toBe('paid');
    const { event, isSigned } = await until('the webhook arrives', () =>
      shape.receiver.arrivals.find(({ paymentId }) => paymentId === id),
    );
    expect([event, isSigned]).toEqual(['payment.paid', true]);
  };

  /**
   * Sends 5 creates a second, which no proxy may send twice, each second one with an idempotency key. Four of five
   * are refused for their amount: a payment costs a hundred times as much, and shows no more.
   * @param made gets the payments
   * @returns what was answered
   */
  const creating = async (act: () => Promise<unknown>, made: string[]) => {
    const answers: Promise<string>[] = [];
    let isOver = false;
    const acting = act().finally(() => {
      isOver = true;
    });
    // At least one second, so that an act that is quick sees creates, too.
    for (let count = 0; !isOver || count < 5; count += 1) {
      const headers: Record<string, string> =
        count % 2 === 0 ? { 'idempotency-key': randomUUID() } : {};
      const [amount, expected] = count % 5 === 0 ? [1000, 201] : [0, 422];
      answers.push(
        createAsClients(headers, amount).then(
          ({ status, body }) => {
            if (status === 201) made.push((JSON.parse(body) as { payment_id: string }).payment_id);
            return status === expected ? 'as expected' : `${status} ${body}`;
          },
          (error: unknown) => String(error),
        ),
      );
      await sleep(200);
    }
    await acting;
    return Promise.all(answers);
  };
  const expectNoFailure = async (act: () => Promise<unknown>, made: string[] = []) => {
    const answers = await creating(act, made);
    const failed = answers.filter((answer) => answer !== 'as expected');
    const logs = failed.length > 0 ? await compose('logs --tail 30 proxy') : '';
    expect(failed, logs).toEqual([]);
    return answers.length;
  };

  it('builds an image of at most 300 MB with the native files of one platform', async () => {
    const [secrets = '', build = ''] = guide('A first purchase');
    await shape.sh(secrets);
    await shape.sh(build);
    const size = await shape.sh("docker image inspect --format '{{.Size}}' payments:1.0.0");
    expect(Number(size)).toBeLessThan(300_000_000);
    const native = 'docker run --rm --entrypoint find payments:1.0.0 /app -name "*.node"';
    expect((await shape.sh(native)).split('\n')).toHaveLength(1);
  });

  it('ends a program of the image by a signal to which it does not listen yet', async () => {
    const stopped = `id=$(docker run --detach payments:1.0.0 node --eval 'setInterval(() => {}, 1000)')
      docker stop --time 60 "$id" > stopped.log
      docker inspect --format '{{.State.ExitCode}}' "$id"
      docker rm "$id" > stopped.log`;
    expect(await shape.sh(stopped)).toBe(String(128 + 15));
  });

  it('begins a first start again that was cut off', async () => {
    await compose('up --detach --no-deps postgres');
    // While initdb works.
    await shape.sh('docker kill $(docker compose ps --quiet postgres)');
    const left =
      'docker run --rm --volume payments-trial_postgres:/v --entrypoint ls postgres:18.4 /v/18';
    expect(await shape.sh(left)).toBe('new');
  });

  it('says that a secret cannot be read, and is right once it can be', async () => {
    await shape.sh('chmod 0400 secrets/*');
    await failing('docker compose up --detach --wait logins');
    expect(await compose('logs --no-log-prefix logins')).toContain(
      'is empty or not readable: chmod',
    );
    await shape.sh('chmod 0444 secrets/*');
  });

  it('shows a first purchase before any provider is configured', async () => {
    const said = await shape.sh(guide('A first purchase').at(-1) ?? '');
    expect(said).toMatch(/thanks\?payment_id=PAY_\w+&order_id=order-1001&status=paid/);
    expect(said).toMatch(/^payment\.paid PAY_\w+ for order order-1001$/m);
  });

  it('takes a payment over TLS from the order to the webhook, with two processes of each kind', async () => {
    await run(guide('Install'));
    expect(await shape.sh('docker compose ps --quiet api | wc -l')).toBe('2');
    const admin = (line: string) => compose(`run --rm -T admin ${line} --as tests`);
    const created = await admin(
      'applications create load --gateway sandbox --callback-url http://localhost:9100/thanks --webhook-url http://localhost:9100/webhook',
    );
    shape.receiver.expectSecret(/whsec_\w+/.exec(created)?.[0] ?? '');
    await admin('applications update load --requests-per-minute 1000000');
    token =
      /svc_test_\w{43}/.exec(await admin('tokens issue load --mode test --name load'))?.[0] ?? '';
    await expectOnePurchase();
  });

  it('publishes nothing but the proxy and, on loopback, the console and the Temporal UI', async () => {
    const published = await shape.sh(
      "docker ps --format '{{.Label \"com.docker.compose.service\"}} {{.Ports}}' | grep -- '->'",
    );
    expect(published.split('\n').map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['proxy', 'console', 'temporal-ui-door']),
    );
    expect(published.split('\n')).toHaveLength(3);
    expect(published).toContain('127.0.0.1:8080->8080/tcp');
    expect(published).toContain('127.0.0.1:3002->3002/tcp');
    const uiUnder = (host: string) =>
      shape.sh(`curl -s -o /dev/null -w '%{http_code}' -H 'Host: ${host}' http://127.0.0.1:8080/`);
    expect([await uiUnder('localhost:8080'), await uiUnder('evil.example:8080')]).toEqual([
      '200',
      '421',
    ]);
  });

  it('gives the api no way out', async () => {
    const { hostname, port } = new URL(shape.receiver.url);
    const connects = (service: string) =>
      compose(`exec -T ${service} timeout 3 bash -c 'exec 3<>/dev/tcp/${hostname}/${port}'`).then(
        () => true,
        () => false,
      );
    expect([await connects('worker-webhooks'), await connects('api')]).toEqual([true, false]);
  });

  it('comes up at once after a down, and counts each client by its own address', async () => {
    // Docker may still hold the endpoint of a container that has just gone, and then keeps its network.
    await compose('down').catch(() => compose('down'));
    await compose('up --detach --wait');
    const [greedy = '', modest = ''] = shape.clientAddresses;
    const page = '/api/v1/payments/PAY_01M83N7A79YKHCXHVBHB2XK8PJ/checkout';
    // Each of two processes allows 60 a minute, and the minute may end meanwhile.
    const forged = { from: greedy, headers: { 'x-forwarded-for': modest } };
    const calls = Array.from({ length: 260 }, () => shape.call(page, forged));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toContain(429);
    expect((await shape.call(page, { from: modest })).status).toBe(404);
    // Behind a proxy of the operator's own the header is believed.
    const behind = (client: string, count: number) =>
      shape.sh(
        `curl -s -o /dev/null -w '%{http_code}\\n' -H 'X-Forwarded-For: ${client}' 'http://localhost:8000${page}?[1-${count}]'`,
      );
    expect(await behind('203.0.113.8', 260)).toContain('429');
    expect(await behind('203.0.113.9', 1)).toBe('404');
    await expectOnePurchase();
  });

  it('stops a process at once that has just started', async () => {
    await compose('restart api');
    const before = Date.now();
    await compose('stop --timeout 200 api');
    expect(Date.now() - before).toBeLessThan(150_000);
    await compose('up --detach --wait');
  });

  it('has the collation that the tests have, and the temporal command', async () => {
    const collation = `exec -T postgres psql -At -d payments -c "select datlocprovider, datlocale from pg_database where datname = 'payments'"`;
    expect(await compose(collation)).toBe('b|C.UTF-8');
    const connect = `exec -T postgres psql -At -c "select has_database_privilege(login, 'payments', 'connect') from unnest(array['temporal', 'worker']) login"`;
    expect(await compose(connect)).toBe('f\nt');
    const listed = await compose('run --rm -T temporal-cli workflow list --limit 5');
    expect(listed).toContain('Completed');
  });

  it('keeps the old processes where a new version does not become healthy', async () => {
    const old = await compose('ps --quiet api');
    const said = await failing('deploy/renew.sh api', { PUBLIC_BASE_URL: 'no address' });
    expect(said).toContain('PUBLIC_BASE_URL');
    expect(await compose('ps --all --quiet api')).toBe(old);
  });

  it('applies a setting of .env, an edited Caddyfile and an edited setting of Temporal', async () => {
    await shape.sh('echo API_PROCESSES=3 >> .env');
    await run(guide('Change a setting'));
    expect(await shape.sh('docker compose ps --quiet api | wc -l')).toBe('3');
    await shape.sh('sed -i /API_PROCESSES/d .env');
    await shape.sh("sed -i 's/308/307/' deploy/proxy/Caddyfile");
    await run(guide('The proxy'));
    const redirected = "curl -s -o /dev/null -w '%{http_code}' http://localhost/";
    expect(await shape.sh(redirected)).toBe('307');
    const file = join(shape.folder, 'docker-compose.yml');
    const before = readFileSync(file, 'utf8');
    const now = () => compose('exec -T temporal cat /tmp/dynamic-config.yaml');
    writeFileSync(file, before.replace('matching.enableFairness:', 'matching.enableFairness2:'));
    await compose('up --detach --wait temporal');
    expect(await now()).toContain('enableFairness2');
    writeFileSync(file, before);
    await compose('up --detach --wait');
  });

  it('configures an account, an application and a token as the guide does', async () => {
    const [, application = '', issue = ''] = guide('Install', 1);
    const [account = ''] = guide('Install', 2);
    writeFileSync(
      join(shape.folder, 'credentials.json'),
      JSON.stringify({ merchantId: '00000000-0000-0000-0000-000000000000' }),
    );
    expect(await shape.sh(account)).toContain('Added: zarinpal');
    // The first purchase has made an application of that name.
    const renamed = (command: string) =>
      command.replace('create shop', 'create store').replace('issue shop', 'issue store');
    expect(await shape.sh(renamed(application))).toContain('whsec_');
    expect(await shape.sh(renamed(issue))).toContain('svc_live_');
  });

  it('rotates all keys and replaces the certificate without a failed request', async () => {
    const keysIn = (name: string) =>
      readFileSync(join(shape.folder, 'secrets', name), 'utf8').trim();
    const names = ['secrets-key', 'webhooks-key', 'notifications-key'];
    const old = names.map(keysIn);
    await shape.sh(
      'openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=another -keyout privkey.pem -out fullchain.pem 2> openssl.log',
    );
    const [rotate = '', retire = ''] = guide('Other keys');
    await expectNoFailure(async () => {
      // One webhook secret of each of three applications, and the account at Zarinpal.
      expect(await shape.sh(rotate)).toContain('Encrypted with the first key: 4');
      expect(names.map((name) => keysIn(name).split(',')[1])).toEqual(old);
      // A key stays while a process has not got the new one.
      await failing(rotate, { PUBLIC_BASE_URL: 'no address' });
      await failing(retire, { PUBLIC_BASE_URL: 'no address' });
      expect(names.map((name) => keysIn(name).split(',')[2])).toEqual(old);
      expect(await shape.sh(retire)).toContain('Encrypted with the first key: 4');
      await run(guide('Certificate'));
    });
    for (const [index, name] of names.entries()) expect(keysIn(name)).not.toContain(old[index]);
    const shown = "curl -skv https://localhost/ 2>&1 | grep 'subject:'";
    expect(await shape.sh(shown)).toContain('CN=another');
    await expectOnePurchase();
  });

  it('restores a backup that is older than what was revoked, removed, captured and refunded', async () => {
    const admin = (line: string, input = '') =>
      shape.sh(`printf %s "$INPUT" | docker compose run --rm -T admin ${line} --as tests`, {
        INPUT: input,
      });
    const statusOf = async (bearer: string) =>
      (await shape.call('/api/v1/me', { headers: { authorization: `Bearer ${bearer}` } })).status;
    await admin(
      'gateways add cards --driver stripe --kind live',
      JSON.stringify({
        secretKey: 'sk_live_0123456789abcdef',
        webhookSecrets: [webhookSecret],
        baseUrl: 'http://127.0.0.1:9101',
      }),
    );
    await admin(
      'applications create cards --gateway cards --callback-url http://localhost:9100/thanks --webhook-url http://localhost:9100/webhook',
    );
    const ofCards = await admin(
      'tokens issue cards --mode live --name cards --scopes create,read,refund',
    );
    const shop = createCardShop(shape, /svc_live_\w{43}/.exec(ofCards)?.[0] ?? '');
    const bought = await shop.buy();
    const opened = await shop.open();
    const leaked = /svc_test_\w{43}/.exec(
      await admin('tokens issue load --mode test --name leaked'),
    )?.[0];
    await admin('console login ada --role operator');
    const { body } = await create();
    const { payment_id: id } = JSON.parse(body) as { payment_id: string };
    const isOpened = `exec -T postgres psql -At -d payments -c "select gateway_reference is not null from payments where id = '${id}'"`;
    await until('the gateway knows it', async () => (await compose(isOpened)) === 't');
    const [backup = ''] = guide('Backup');
    const file = await shape.sh(backup);

    const revoke = async () => {
      const listed = JSON.parse(await admin('tokens list load --json')) as {
        id: number;
        name: string;
      }[];
      const { id: leakedId } = listed.find(({ name }) => name === 'leaked')!;
      await admin(`tokens revoke load ${leakedId} --yes`);
      await admin('console remove ada --yes');
    };
    await revoke();
    expect(await statusOf(leaked ?? '')).toBe(401);
    await shop.pay(opened);
    const captured = await shop.buy();
    await shop.buy();
    for (const purchase of [bought, captured]) {
      expect(await shop.refund(purchase)).toBe(201);
      await shop.waitUntilRefunded(purchase);
    }

    expect(await failing(`deploy/restore.sh ${file}`)).toContain('There is data');
    const commands = guide('Restore').map((command) =>
      command.replace('payments_postgres', 'payments-trial_postgres').replace(/backups\S+/, file),
    );
    await run(commands.slice(0, -1));
    const said = await failing(`echo no | ${commands.at(-1)}`);
    expect(said).toMatch(/The backup is of 20\S+ \S+ \S+, 0 h \d+ min ago\./);
    // The checkouts that may be lost. The backup has the checkout of `opened`.
    expect(said).toContain(id);
    expect(said).not.toContain(opened.id);
    expect(await compose('ps --services')).toBe('postgres');
    const left = `exec -T postgres psql -At -d payments -c "select (select count(*) from console_links where ended_at is null), (select count(*) from console_people where name = 'ada')"`;
    expect(await compose(left)).toBe('0|1');
    await revoke();
    await compose('up --detach --wait');
    // It compares payments with workflows, and fails where they differ.
    await admin('reconcile');

    expect(await statusOf(leaked ?? '')).toBe(401);
    expect(await statusOf(token)).toBe(200);
    expect(await pay(id)).toBe('paid');
    const notice = JSON.stringify({
      ...{ id: 'evt_1', object: 'event', livemode: true, type: 'checkout.session.completed' },
      data: { object: { id: captured.reference, client_reference_id: captured.id } },
    });
    const { status } = await shape.call('/api/v1/gateways/cards/notifications', {
      ...{ method: 'POST', headers: signed(notice), body: notice },
    });
    expect(status).toBe(200);
    // Docker hands a container's lines on some time after they are written.
    await until('the alert is in the log', async () =>
      (await compose('logs --no-log-prefix api')).includes('"alert":"unknown_reference"'),
    );

    await shop.waitUntilPaid(opened);
    expect(await shop.refund(bought)).toBe(201);
    await shop.waitUntilRefunded(bought);
    expect(await shop.refund(captured)).toBe(404);
    expect(shape.stripe.refunds).toHaveLength(2);
    const days = daysOf(shape.stripe);
    for (const day of days) await admin(`accounts compare cards ${day}`);
    const listed = async (what: string) =>
      JSON.parse(await admin(`accounts ${what} --gateway cards --json`)) as {
        kind: string;
        subject: string;
      }[];
    await until('all is compared', async () => (await listed('days')).length === days.length);
    const differences = await listed('differences');
    // All that Stripe's book has and the restored records do not have: no charge of `bought` and `opened`.
    expect(differences.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()).toEqual([
      'captured_unknown txn_ch_3',
      'captured_unknown txn_ch_4',
      'refund_unknown txn_re_2',
    ]);
  });

  it('upgrades to the next minor version under load, and goes back, and loses and doubles nothing', async () => {
    const means = { token, guide, pay, expectNoFailure };
    await expect(expectToUpgrade(shape, means)).resolves.toBeUndefined();
    await expectOnePurchase();
  });

  it('loses and doubles no payment while every container is killed in turn', async () => {
    const { payments, kills, violations } = await killContainersInTurn(shape, {
      token,
      rate: 1,
      services: ['api', 'worker-payments', 'worker-webhooks', 'proxy', 'temporal', 'postgres'],
    });
    console.log(`${payments} payments, ${kills} kills, ${violations.length} violations`);
    expect(violations).toEqual([]);
    expect(kills).toBe(9);
  });

  it('is watched by Prometheus, and alerts arrive', async () => {
    await shape.sh(
      'openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=pay.example.com -addext subjectAltName=DNS:pay.example.com -keyout privkey.pem -out fullchain.pem 2> openssl.log',
    );
    await run(guide('Certificate'));
    await run(guide('Backup'));
    const [configure = '', , test = ''] = guide('Alerts', 1);
    await expect(expectToBeWatched(shape, { configure, test })).resolves.toBeUndefined();
  });

  it('deletes what is old, and leaves nothing behind when it is removed', async () => {
    await run(guide('Every day'));
    await run(guide('Every week'));
    const [remove = ''] = guide('A first purchase', 1);
    await shape.sh(remove);
    expect(await shape.sh('docker ps --all --quiet && docker volume ls --quiet')).toBe('');
  });
});
