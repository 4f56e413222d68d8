import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../postgres/driver/connection.ts';
import type { ServerPrograms } from '../stack/temporal/program.ts';
import type { Violation } from './checks.ts';
import { checkAll } from './checks.ts';
import { engineProblems } from './engine.ts';
import type { Kill } from './faults.ts';
import { killAtRandom, troubleGateways, troubleWires } from './faults.ts';
import type { Random } from './random.ts';
import { createRandom } from './random.ts';
import { drain, readRecords } from './records.ts';
import type { Recovery } from './recovery.ts';
import { absencesOf, endedByThemselves, recoveries } from './recovery.ts';
import type { People } from './stories.ts';
import { live } from './stories.ts';
import { timelineOf } from './timeline.ts';
import type { Created, Wish } from './wishes.ts';
import { drawWishes } from './wishes.ts';
import { startWorld } from './world.ts';

export interface Plan {
  payments: number;
  seed: string;
  /** In which the payments are created, spread evenly. */
  loadMs: number;
  /** How long payments may take to end and be delivered once no payer and no fault is left. */
  drainMs: number;
  killEveryMs: number;
  /** Only what ends without waiting for a deadline or a second attempt. */
  quick: boolean;
}

export interface CliContext {
  /** Its own, where logs and data go; others must be able to pass through it. */
  folder: string;
  programs: ServerPrograms;
  /** The checkout whose processes are started. */
  root: string;
  say: (line: string) => void;
  /** What takes everything down again, in reverse order, also in the middle. */
  cleanup: AsyncDisposableStack;
}

export interface Report {
  created: number;
  kills: readonly Kill[];
  violations: readonly (Violation & { timeline: readonly string[] })[];
  recoveries: readonly Recovery[];
  /** How many payments ended in each status. */
  statuses: ReadonlyMap<string, number>;
  /** What callers were answered, and how often. */
  answers: ReadonlyMap<string, number>;
  posts: number;
  /** From the last fault until everything was over. */
  drainedMs: number;
}

/** Payers, kills and troubled gateways on the production shape, then every check. @throws SetupError */
export const runChaos = async (plan: Plan, surroundings: CliContext): Promise<Report> => {
  const { say, cleanup } = surroundings;
  const random = createRandom(plan.seed);
  const failing = plan.quick ? 0 : 0.25;
  const world = await startWorld({ ...surroundings, failing, random });
  const { production, wires, gateways, receiver, journal, people, notices, client, token, gaveUp } =
    world;
  say(`Started; logs are in ${production.logs}`);

  const faults = new AbortController();
  cleanup.defer(() => faults.abort());
  const { signal } = faults;
  const killing = killAtRandom(production.members, {
    ...{ signal, everyMs: plan.killEveryMs, random: random.branch('kills') },
  });
  const breaking = troubleWires(wires, { signal, random: random.branch('wires') });
  const troubling = troubleGateways(gateways, {
    ...{ random: random.branch('gateways'), onlyLatency: plan.quick },
    // Not longer: after a third silence a payment rests for four minutes.
    signal: AbortSignal.any([signal, AbortSignal.timeout(plan.loadMs)]),
  });
  const wishes = drawWishes({ ...plan, gateways, random: random.branch('payers') });
  const payments = await payAll(wishes, { ...plan, people, random });
  await notices.all();
  faults.abort();
  const [kills, broken] = await Promise.all([killing, breaking, troubling]);
  const breaks = broken.postgres.length + broken.temporal.length;
  say(
    `${payments.length} payments created, ${kills.length} kills, ${breaks} broken wires; waiting for all to be over …`,
  );

  const calmAt = Date.now();
  const sql = connect(production.databaseUrl, { name: 'payments-chaos', max: 4 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  await drain(sql, payments, plan.drainMs);
  const leftMs = calmAt + plan.drainMs - Date.now();
  const unfinished = await engineProblems(payments, production.temporal, leftMs);
  const drainedMs = Date.now() - calmAt;
  const records = await readRecords(payments, { sql, client, token, apiUrl: production.url });
  const posts = receiver.posts();
  const absences = absencesOf(production.members, broken);
  const created = new Set(payments.map(({ order }) => order));
  const violations: Violation[] = [
    ...checkAll({ payments, records, posts, absences, journal }),
    ...unfinished,
    ...wishes.filter(({ order }) => !created.has(order)).map(({ order }) => notCreated(order)),
    ...endedByThemselves(production.members, kills).map((name) => ({
      order: '',
      text: `${name} ended although nobody killed it`,
    })),
    ...gaveUp.map((text) => ({ order: '', text })),
  ];
  return {
    created: payments.length,
    kills,
    violations: violations.map((one) => ({
      ...one,
      timeline: one.payment ? timelineOf(one.payment, { journal, posts, kills }) : [],
    })),
    recoveries: recoveries(kills, posts),
    statuses: countBy([...records.shown.values()].map(({ status }) => status)),
    answers: journal.answers(),
    posts: posts.length,
    drainedMs,
  };
};

const notCreated = (order: string) => ({ order, text: 'it was not created within two minutes' });

/** @returns what was created; every payer has gone then */
const payAll = async (
  wishes: readonly Wish[],
  { people, random, loadMs, quick }: Plan & { people: People; random: Random },
): Promise<Created[]> => {
  const created: Created[] = [];
  const one = async (wish: Wish, index: number) => {
    await sleep((loadMs * index) / wishes.length);
    const payment = await people.application.create(wish);
    if (!payment) return;
    created.push(payment);
    await live(people, payment, random.branch(wish.order));
    if (quick) await people.application.verifyUntilEnded(payment);
  };
  await Promise.all(wishes.map(one));
  return created;
};

const countBy = (names: readonly string[]): Map<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
