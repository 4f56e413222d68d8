import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { runPayer } from '../../chaos/behaviours.ts';
import { checkAll } from '../../chaos/checks.ts';
import { noDisruptions } from '../../chaos/disruptions.ts';
import { startEnvironment } from '../../chaos/environment.ts';
import { createRandom } from '../../chaos/random.ts';
import { type CreatedPayment, drawScenarios } from '../../chaos/scenarios.ts';
import { drain, readServiceRecords } from '../../chaos/service-records.ts';
import { findWorkflowProblems } from '../../chaos/workflows.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { thisMachine } from '../../stack/programs/machine.ts';
import { findTemporalServer } from '../../stack/temporal/program.ts';
import { useProgram } from '../support/runner/use-program.ts';
import { aFolder, prepare } from '../support/stack/support.ts';
import { until } from '../support/until.ts';

/** Per second. Two cores that other processes keep busy must manage this too. */
const rate = { payments: 2, reads: 20 };
const leastPayments = 20;
const drainMs = 180_000;

/** Starts work at a steady rate per second until the signal. */
const steadily = async (
  perSecond: number,
  signal: AbortSignal,
  start: (nth: number) => unknown,
) => {
  const startedAt = performance.now();
  for (let nth = 0; !signal.aborted; nth += 1) {
    start(nth);
    await sleep(Math.max(0, startedAt + ((nth + 1) * 1000) / perSecond - performance.now()));
  }
};

const programs = useProgram(() => findTemporalServer(thisMachine()));

it(
  'a rolling restart under load fails no request and loses no outcome, on the production shape',
  { timeout: 600_000 },
  async () => {
    const folder = prepare(aFolder());
    // Before the folder goes.
    const cleanup = new AsyncDisposableStack();
    onTestFinished(() => cleanup.disposeAsync());
    const random = createRandom(String(Date.now()));
    const environment = await startEnvironment({
      folder,
      programs: programs(),
      cleanup,
      random,
      failing: 0,
    });
    const { production, gateways, receiver, journal, actors, notifications, client, token } =
      environment;
    const sql = connect(production.databaseUrl, { name: 'tests', max: 2 });
    cleanup.defer(() => sql.end({ timeout: 1 }));

    // Returning money waits for the sweeper, which the chaos run tests.
    const scenarios = drawScenarios({ payments: 1_000, gateways, random, quick: true }).filter(
      ({ behaviour }) => behaviour !== 'wrongAmount',
    );
    const payments: CreatedPayment[] = [];
    const work: Promise<unknown>[] = [];
    const pay = async (nth: number) => {
      const payment = await actors.application.create(scenarios[nth]!);
      if (!payment || 'paidBy' in payment) return;
      payments.push(payment);
      await runPayer(actors, payment, random.branch(payment.order));
      await actors.application.verifyUntilEnded(payment);
    };
    const read = async (nth: number) => {
      const { id, order } = payments[nth % payments.length] ?? {};
      if (id === undefined || order === undefined) return;
      const url = `${production.url}/api/v1/payments/${id}`;
      const headers = { authorization: `Bearer ${token}` };
      await client(
        { method: 'GET', url, headers },
        { name: 'read', order, until: 0, expects: [200] },
      );
    };

    const restarts = new AbortController();
    const { signal } = restarts;
    const load = [
      steadily(rate.payments, signal, (nth) => work.push(pay(nth))),
      steadily(rate.reads, signal, (nth) => work.push(read(nth))),
    ];
    await until('there is load', () => payments.length > rate.payments);
    const ours = production.members.filter(({ part }) => part === 'api' || part === 'worker');
    // Two of each part, one after the other.
    for (const member of ours) await member.restart();
    await until('the load has met them', () => payments.length > leastPayments);
    restarts.abort();
    await Promise.all(load);
    await Promise.all(work);
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
    // Whether a payer is faster than a cancel is the draw's and the machine's choice. On a busy one the other worker may take
    // longer over the workflow than a request waits: the application asks again, and must get its answer.
    const cancels = responses.filter((each) => each.startsWith('cancel '));
    expect(['cancel 200', 'cancel 409', 'cancel 503']).toEqual(expect.arrayContaining(cancels));
    const isAnswered = ({ order }: CreatedPayment) =>
      journal.notesFor(order).some(({ text }) => /^cancel: (200|409)/.test(text));
    const unanswered = payments.filter(
      (payment) => payment.behaviour === 'callOff' && payment.reference && !isAnswered(payment),
    );
    expect(unanswered.map(({ order }) => journal.notesFor(order))).toEqual([]);
    expect(responses.filter((each) => !cancels.includes(each))).toEqual([
      'checkout 302',
      'create 201',
      'notification 200',
      'read 200',
      'return 303',
      'verify 200',
    ]);
    expect(ours.map(({ lives }) => lives.map(({ end }) => end))).toEqual(
      ours.map(() => ['ended with code 0', undefined]),
    );
    expect(new Set(posts.map(({ eventId }) => eventId)).size).toBe(payments.length);
    expect(posts).toHaveLength(payments.length);
  },
);
