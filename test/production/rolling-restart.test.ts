import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { runPayer } from '../../chaos/behaviours.ts';
import { checkAll } from '../../chaos/checks.ts';
import { noDisruptions } from '../../chaos/disruptions.ts';
import { startEnvironment } from '../../chaos/environment.ts';
import { createRandom } from '../../chaos/random.ts';
import { type CreatedPayment, drawScenarios } from '../../chaos/scenarios.ts';
import { drain, readServiceRecords } from '../../chaos/service-records.ts';
import { findWorkflowProblems } from '../../chaos/workflows.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { useProductionRun } from '../support/stack/production-run.ts';
import { until } from '../support/until.ts';

/** Each has one payment or read at a time: a slow machine gets less work, and no more than it can do. */
const lanes = { payments: 8, reads: 4 };
const pauseMs = { payments: 2_000, reads: 200 };
/** Between two restarts. */
const leastBetween = 6;
const drainMs = 180_000;

const aRun = useProductionRun();

it(
  'a rolling restart under load fails no request and loses no outcome, on the production shape',
  { timeout: 600_000 },
  async () => {
    const run = aRun();
    const random = createRandom(String(Date.now()));
    const environment = await startEnvironment({ ...run, random, failing: 0 });
    const { production, gateways, receiver, journal, actors, notifications, client, token } =
      environment;
    const sql = connect(production.databaseUrl, { name: 'tests', max: 2 });
    run.cleanup.defer(() => sql.end({ timeout: 1 }));

    // Returning money waits for the sweeper, which the chaos run tests.
    const scenarios = drawScenarios({ payments: 1_000, gateways, random, quick: true }).filter(
      ({ behaviour }) => behaviour !== 'wrongAmount',
    );
    const payments: CreatedPayment[] = [];
    const pay = async () => {
      const payment = await actors.application.create(scenarios.pop()!);
      if (!payment || 'paidBy' in payment) throw new Error('A create got no answer');
      payments.push(payment);
      await runPayer(actors, payment, random.branch(payment.order));
      await actors.application.verifyUntilEnded(payment);
    };
    const read = async () => {
      const payment = payments.at(-1);
      if (!payment) return;
      const url = `${production.url}/api/v1/payments/${payment.id}`;
      const headers = { authorization: `Bearer ${token}` };
      await client(
        { method: 'GET', url, headers },
        { name: 'read', order: payment.order, until: 0, expects: [200] },
      );
    };

    let isOver = false;
    const keepDoing = (work: 'payments' | 'reads', once: () => Promise<void>) =>
      Array.from({ length: lanes[work] }, async () => {
        while (!isOver) {
          await once();
          await sleep(pauseMs[work]);
        }
      });
    const load = Promise.all([...keepDoing('payments', pay), ...keepDoing('reads', read)]);
    // What it fails with is thrown below.
    load.catch(() => {});
    await until('there is load', () => payments.length > 2);
    const ours = production.members.filter(({ part }) => part === 'api' || part === 'worker');
    // Two of each part, one after the other.
    for (const member of ours) {
      const before = payments.length;
      await member.restart();
      await until('payments go on', () => payments.length >= before + leastBetween);
    }
    isOver = true;
    await load;
    await notifications.waitForAll();
    await drain(sql, payments, drainMs);

    const workflowProblems = await findWorkflowProblems(payments, production.temporal, drainMs);
    const apiUrl = production.url;
    const records = await readServiceRecords(payments, { sql, client, token, apiUrl });
    const posts = receiver.posts();
    const violations = [
      // A graceful stop excuses nothing.
      ...checkAll({ payments, records, posts, disruptions: noDisruptions, journal }),
      ...workflowProblems,
    ];
    const withNotes = violations.map((each) => ({ ...each, notes: journal.notesFor(each.order) }));
    expect(withNotes).toEqual([]);
    const responses = [...journal.responses().keys()].toSorted();
    // Whether a payer is faster than a cancel, and Stripe notifies, is the draw's choice. On a busy machine the other worker
    // may take longer over the workflow than a cancel waits: the application asks again, and must get its answer.
    const mayBe = (response: string) => /^cancel (200|409|503)$|^notification 200$/.test(response);
    expect(responses.filter((each) => !mayBe(each))).toEqual([
      'checkout 302',
      'create 201',
      'read 200',
      'return 303',
      'verify 200',
    ]);
    const isAnswered = ({ order }: CreatedPayment) =>
      journal.notesFor(order).some(({ text }) => /^cancel: (200|409)/.test(text));
    const unanswered = payments.filter(
      (payment) => payment.behaviour === 'callOff' && payment.reference && !isAnswered(payment),
    );
    expect(unanswered.map(({ order }) => journal.notesFor(order))).toEqual([]);
    // A process that stops answers its requests before it leaves Postgres.
    for (const { name } of ours)
      expect(readFileSync(join(production.logs, `${name}.log`), 'utf8')).not.toContain(
        'CONNECTION_ENDED',
      );
    expect(ours.map(({ lives }) => lives.map(({ end }) => end))).toEqual(
      ours.map(() => ['ended with code 0', undefined]),
    );
    expect(new Set(posts.map(({ eventId }) => eventId)).size).toBe(payments.length);
    expect(posts).toHaveLength(payments.length);
  },
);
