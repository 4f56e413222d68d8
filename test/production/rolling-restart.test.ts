import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { checkAll } from '../../chaos/checks.ts';
import { engineProblems } from '../../chaos/engine.ts';
import { createRandom } from '../../chaos/random.ts';
import { drain, readRecords } from '../../chaos/records.ts';
import { noAbsences } from '../../chaos/recovery.ts';
import { live } from '../../chaos/stories.ts';
import type { Created } from '../../chaos/wishes.ts';
import { drawWishes } from '../../chaos/wishes.ts';
import { startWorld } from '../../chaos/world.ts';
import { readStackConfig } from '../../config.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { findTemporalServer } from '../../stack/temporal/program.ts';
import { createTerminal } from '../../stack/terminal.ts';
import { aFolder } from '../support/stack/support.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
/** Where no program of the server is kept yet it is built. */
const buildLimitMs = 20 * 60_000;
const perSecond = { payments: 4, reads: 50 };
const rounds = 2;
const drainMs = 30_000;

/** Begins work at a steady rate for as long as it goes on. */
const steadily = async (rate: number, goesOn: () => boolean, begin: (nth: number) => unknown) => {
  const began = performance.now();
  for (let nth = 0; goesOn(); nth += 1) {
    begin(nth);
    await sleep(Math.max(0, began + ((nth + 1) * 1000) / rate - performance.now()));
  }
};

it(
  'a rolling restart under load fails no request and loses no outcome, on the production shape',
  { timeout: buildLimitMs + 180_000 },
  async () => {
    const programs = await findTemporalServer({ ...readStackConfig(), terminal: createTerminal() });
    const folder = aFolder();
    const cleanup = new AsyncDisposableStack();
    onTestFinished(() => cleanup.disposeAsync());
    const random = createRandom(String(Date.now()));
    const world = await startWorld({ folder, programs, root, cleanup, random, failing: 0 });
    const { production, gateways, receiver, journal, people, notices, client, token } = world;
    const sql = connect(production.databaseUrl, { name: 'tests', max: 2 });
    cleanup.defer(() => sql.end({ timeout: 1 }));

    // What gives money back waits for the sweep: that is the chaos run's.
    const wishes = drawWishes({ payments: 1_000, gateways, random, quick: true }).filter(
      ({ story }) => story !== 'wrongAmount',
    );
    const payments: Created[] = [];
    const work: Promise<unknown>[] = [];
    const pay = async (nth: number) => {
      const payment = await people.application.create(wishes[nth]!);
      if (!payment) return;
      payments.push(payment);
      await live(people, payment, random.branch(payment.order));
      await people.application.verifyUntilEnded(payment);
    };
    const read = async (nth: number) => {
      const { id, order } = payments[nth % payments.length] ?? {};
      if (id === undefined || order === undefined) return;
      const url = `${production.url}/api/v1/payments/${id}`;
      const headers = { authorization: `Bearer ${token}` };
      const takes = (status: number) => status === 200;
      await client({ method: 'GET', url, headers }, { what: 'read', order, until: 0, takes });
    };

    let restarting = true;
    const load = [
      steadily(
        perSecond.payments,
        () => restarting,
        (nth) => work.push(pay(nth)),
      ),
      steadily(
        perSecond.reads,
        () => restarting,
        (nth) => work.push(read(nth)),
      ),
    ];
    await until('there is load', () => payments.length > perSecond.payments);
    const ours = production.members.filter(({ part }) => part === 'api' || part === 'worker');
    for (let round = 0; round < rounds; round += 1)
      for (const member of ours) await member.restart();
    restarting = false;
    await Promise.all(load);
    await Promise.all(work);
    await notices.all();
    await drain(sql, payments, drainMs);

    const unfinished = await engineProblems(payments, production.temporal);
    const records = await readRecords(payments, { sql, client, token, apiUrl: production.url });
    const posts = receiver.posts();
    const violations = [
      // What is asked to end explains nothing.
      ...checkAll({ payments, records, posts, absences: noAbsences, journal }),
      ...unfinished,
    ];
    const timelines = violations.map((each) => ({ ...each, notes: journal.notesOf(each.order) }));
    expect(timelines).toEqual([]);
    expect([...journal.answers().keys()].toSorted()).toEqual([
      ...['checkout 302', 'create 201', 'notice 200', 'read 200', 'return 303', 'verify 200'],
    ]);
    expect(ours.map(({ lives }) => lives.map(({ how }) => how))).toEqual(
      ours.map(() => ['ended with code 0', 'ended with code 0', undefined]),
    );
    expect(payments.length).toBeGreaterThan(50);
    expect(new Set(posts.map(({ eventId }) => eventId)).size).toBe(payments.length);
    expect(posts).toHaveLength(payments.length);
  },
);
