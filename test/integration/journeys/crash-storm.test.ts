import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { readStackConfig } from '../../../config.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { commandLineOf } from '../../../stack/identity.ts';
import { aFolder, processesIn, runStack } from '../../support/stack/support.ts';
import type { Answer } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import type { Received } from '../../support/receiver.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

const payments = 500;
const payers = 25;
const victims = ['worker/main.ts', 'api/main.ts', 'postgres', 'temporal'] as const;
/**
 * For each victim. The stack stops after more than five exits within a minute, and a process that starts
 * while another one is away may exit because of that.
 */
const killsPerMinute = 3;
const leastKills = 2;
/** The events of this many payments are refused at random. Each later refusal would cost a minute. */
const refused = 200;
/** An attempt needs these until it is in the ledger. */
const recorders: readonly string[] = ['worker/main.ts', 'postgres'];
/** A POST may be missing in the ledger this long after its response. */
const recordMs = 20_000;
/** The receiver may see a POST this long after it was sent. */
const lagMs = 2_000;
const deadlineMs = 10_000;

const root = join(import.meta.dirname, '../../..');

/** The admin command line, with the stack's folder as its only setting. */
const admin = async (dataDir: string, ...line: string[]) => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, 'admin/main.ts'), ...line],
    { env: { ...readStackConfig().inherited, DATA_DIR: dataDir } },
  );
  return stdout.trim();
};

/** Repeats a request that a kill left without a response, or with a 503, as a payer would. */
const retry = (what: string, wanted: number, attempt: () => Promise<Answer>): Promise<Answer> =>
  until(
    what,
    async () => {
      const answer = await attempt().catch(noResponse);
      if (!answer || answer.status === 503) return false;
      expect(answer.status, `${what}: ${answer.text}`).toBe(wanted);
      return answer;
    },
    90_000,
  );

/** Recognizes a refused or broken connection, which only fetch reports in this way. */
const noResponse = (error: unknown): false => {
  if (error instanceof TypeError && error.cause !== undefined) return false;
  throw error;
};

it(
  'delivers every event of 500 payments while random processes are killed',
  { timeout: 420_000 },
  async () => {
    const dataDir = aFolder();
    const stack = runStack({
      dataDir,
      entry: 'stack/main.ts',
      env: { PAYER_PAGES_PER_MINUTE: '1000000' },
    });
    const facts = await stack.ready();
    const receiver = await startReceiver();
    const ids: string[] = [];
    onTestFinished(() => receiver.stop());
    const seenOk = new Set<string>();
    /** When each POST got its response, or broke off. */
    const endedAt = new Map<Received, number>();
    const keyOf = (id: unknown, number: unknown) => `${String(id)} ${String(number)}`;
    receiver.behave((nth, res) => {
      const post = receiver.all.at(-1)!; // It is what this is called for.
      res.once('close', () => endedAt.set(post, Date.now()));
      const chance = nth === 1 && ids.length < refused ? Math.random() : 1;
      if (chance < 0.1) return 500;
      if (chance < 0.15) {
        res.destroy();
        return undefined;
      }
      if (chance < 0.2) return undefined;
      seenOk.add(keyOf(post.json['payment_id'], post.headers['x-service-delivery-attempt']));
      return chance < 0.6 ? 200 : 204;
    });

    const slug = 'storm';
    await admin(
      ...([dataDir, 'applications', 'create', slug, '--gateway', 'sandbox'] as const),
      ...['--callback-url', 'http://127.0.0.1:9/return', '--webhook-url', receiver.url],
    );
    await admin(dataDir, 'applications', 'update', slug, '--requests-per-minute', '1000000');
    const issued = await admin(
      ...([dataDir, 'tokens', 'issue', slug, '--mode', 'test', '--name', 'a', '--json'] as const),
    );
    const { token } = JSON.parse(issued) as { token: string };
    const journey = createJourney({ url: facts.api_base_url }, token);

    const pay = async (): Promise<string> => {
      const headers = { 'idempotency-key': randomUUID() };
      const body = { order_id: 'storm', amount: 5, currency: 'JPY' };
      const created = await retry('it is created', 201, () =>
        journey.request('POST', '/api/v1/payments', body, headers),
      );
      const id = String(created.json['payment_id']);
      await retry('the payer can go', 302, () => journey.checkout(id));
      await retry('the payer pays', 303, () => journey.choose(id, 'pay'));
      await retry('the payer comes back', 303, () => journey.comeBack(id));
      return id;
    };

    const kills: { victim: string; at: number }[] = [];
    const killsOf = (victim: string, since = 0) =>
      kills.filter((kill) => kill.victim === victim && kill.at >= since).length;
    const mayDie = (victim: string) => killsOf(victim, Date.now() - 60_000) < killsPerMinute;
    const isOver = () =>
      ids.length === payments && victims.every((victim) => killsOf(victim) >= leastKills);
    const storm = async () => {
      while (!isOver()) {
        await sleep(2_000 + Math.random() * 2_500);
        const mortal = victims.filter(mayDie);
        const victim = mortal[Math.floor(Math.random() * mortal.length)];
        for (const { pid } of processesIn(dataDir))
          if (victim && commandLineOf(pid).includes(victim)) {
            kills.push({ victim, at: Date.now() });
            process.kill(pid, 'SIGKILL');
          }
      }
    };
    let left = payments;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        ids.push(await pay());
        await sleep(Math.random() * 1_000);
      }
    };
    const end = stack.exited.then(() => {
      throw new Error(`The stack has ended:\n${stack.output()}`);
    });
    await Promise.race([end, Promise.all([storm(), ...Array.from({ length: payers }, lane)])]);

    const sql = connect(facts.database_url, { name: 'storm', max: 2 });
    onTestFinished(() => sql.end());
    await until(
      'every event is delivered',
      async () => {
        // Postgres may have been killed last.
        const rows = await sql`
          select from deliveries where payment_id = any(${ids}) and status = 'delivered'`.catch(
          () => [],
        );
        return rows.length === payments;
      },
      240_000,
    );

    const ledger = await sql<{ payment_id: string; number: number; response_status: number }[]>`
      select payment_id, number, response_status from attempts where payment_id = any(${ids})`;
    const numbers = ledger.map(({ payment_id, number }) => keyOf(payment_id, number));
    expect(new Set(numbers).size).toBe(numbers.length);
    const posts = receiver.all.filter(({ json }) => ids.includes(String(json['payment_id'])));
    const seen = Map.groupBy(posts, ({ json, headers }) =>
      keyOf(json['payment_id'], headers['x-service-delivery-attempt']),
    );
    for (const id of ids) expect(receiver.of(id).length).toBeGreaterThan(0);
    for (const key of seen.keys()) expect(numbers, 'every POST is in the ledger').toContain(key);
    for (const { payment_id, number, response_status } of ledger)
      if (response_status >= 200 && response_status < 300)
        expect(seenOk, 'every recorded 2xx was given').toContain(keyOf(payment_id, number));
    /** Whether a kill cut off a POST that was sent again. */
    const wasCut = (post: Received, next: Received) => {
      const recordedAt = (endedAt.get(post) ?? post.at + deadlineMs) + recordMs;
      const cutBy = Math.min(recordedAt, next.at);
      return kills
        .filter(({ victim }) => recorders.includes(victim))
        .some(({ at }) => at > post.at - lagMs && at < cutBy);
    };
    for (const [key, same] of seen)
      for (const [index, post] of same.slice(0, -1).entries())
        expect(wasCut(post, same[index + 1]!), `${key} was sent again without a reason`).toBe(true);
    const events = await sql`select from events where payment_id = any(${ids})`;
    expect(events).toHaveLength(payments);
  },
);
