import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../postgres/driver/connection.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { ServerPrograms } from '../stack/temporal/program.ts';
import { compareAccounts } from './accounts.ts';
import { type Actors, runPayer } from './behaviours.ts';
import { checkAll } from './checks.ts';
import type { Evidence, Violation } from './evidence.ts';
import {
  findDisruptions,
  findUnexplainedEnds,
  measureRecoveries,
  type Recovery,
  type Kill,
} from './disruptions.ts';
import { startEnvironment } from './environment.ts';
import {
  type Conversion,
  findConversionProblems,
  findUnusedFallbacks,
  measureConversion,
} from './fallbacks.ts';
import { disturbGateways, disturbLinks, disturbReceiver, killAtRandom } from './faults.ts';
import { createLoad, type Load } from './load.ts';
import { type MemorySums, sumLives, watchMemory } from './memory.ts';
import { watchOrders } from './orders.ts';
import { plantFault, type PlantedFault } from './planted-faults.ts';
import { createRandom, type Random } from './random.ts';
import {
  type CreatedPayment,
  drawScenarios,
  type RefusedScenario,
  type Scenario,
} from './scenarios.ts';
import { drain, readServiceRecords, type ServiceRecords } from './service-records.ts';
import { formatTimeline } from './timeline.ts';
import { findWorkflowProblems } from './workflows.ts';

export interface Plan {
  payments: number;
  seed: string;
  /** The time over which the creation of the payments is spread evenly, without the waits of the load. */
  loadMs: number;
  /** The time for payments to end and be delivered once there are no payers and no faults. */
  drainMs: number;
  /** The mean time between kills, if the processes do not take longer to start. */
  killEveryMs: number;
  /** The role's processes with this number are not killed, so that their memory can be watched for long. */
  spared?: number;
  /**
   * Leaves out what waits for a deadline, and gateways that fail. The receiver fails during the load alone,
   * because a second attempt comes a minute later.
   */
  quick: boolean;
  /** The share of events whose first attempt is not accepted. */
  failing: number;
  /** Whether Temporal runs as a cluster of its services. */
  cluster?: boolean;
  /** A fault that the run must find. */
  fault?: PlantedFault | undefined;
}

export interface RunOptions {
  /** An empty folder for logs and data. Other users must be able to pass through it. */
  folder: string;
  programs: ServerPrograms;
  say: (line: string) => void;
  /** Stops everything in reverse order, at the end or after an interruption. */
  cleanup: AsyncDisposableStack;
}

export interface Report {
  created: number;
  /** Not created, because another payment has paid the order. */
  refused: number;
  kills: readonly Kill[];
  memory: ReadonlyMap<string, MemorySums>;
  violations: readonly (Violation & { timeline: readonly string[] })[];
  recoveries: readonly Recovery[];
  /** The number of payments in each status; those that lost their order have their failure code. */
  statuses: ReadonlyMap<string, number>;
  /** The responses that callers got, and how often. */
  responses: ReadonlyMap<string, number>;
  posts: number;
  conversion: Conversion;
  /** From the last fault until everything was done. */
  drainedMs: number;
  /** For more checks, until everything is stopped. */
  evidence: Evidence;
  readRecords: () => Promise<ServiceRecords>;
  sql: Sql;
}

/** Runs payers, kills and disturbances on the production shape, and then every check. @throws SetupError */
export const runChaos = async (plan: Plan, options: RunOptions): Promise<Report> => {
  const { say, cleanup } = options;
  const random = createRandom(plan.seed);
  const environment = await startEnvironment({ ...options, ...plan, random });
  const { production, gateways, receiver, journal, actors, notifications, client, token } =
    environment;
  const sql = connect(production.databaseUrl, { name: 'payments-chaos', max: 4 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  if (plan.fault) await plantFault(sql, plan.fault);
  const orders = watchOrders(sql);
  cleanup.defer(async () => void (await orders.stop()));
  say(`Started; logs are in ${production.logs}`);

  const faults = new AbortController();
  cleanup.defer(() => faults.abort());
  const { signal } = faults;
  const mortal = production.members.filter(({ name }) => !name.endsWith(`-${plan.spared}`));
  const watching = watchMemory(production.members, signal);
  const payments: CreatedPayment[] = [];
  const load = createLoad({
    ...plan,
    gateways,
    random: random.branch('openings'),
    created: () => payments,
  });
  const killing = killAtRandom(mortal, {
    ...{ signal, isWaiting: load.isWaiting },
    everyMs: plan.killEveryMs,
    random: random.branch('kills'),
  });
  const breaking = disturbLinks(environment.links, { signal, random: random.branch('links') });
  const loading = new AbortController();
  const whileLoading = AbortSignal.any([signal, loading.signal]);
  const disturbing = disturbGateways(gateways, {
    random: random.branch('gateways'),
    onlyLatency: plan.quick,
    // Not longer: after a third silence of the gateway a payment waits for four minutes.
    signal: whileLoading,
  });
  const flapping = disturbReceiver(receiver, {
    random: random.branch('outages'),
    signal: plan.quick ? whileLoading : signal,
  });
  const scenarios = drawScenarios({
    ...plan,
    ...{ gateways, perOrder: mostOfAnOrder, random: random.branch('payers') },
  });
  const failing = load.run().finally(() => {
    loading.abort();
    if (plan.quick) receiver.acceptAll();
  });
  const refused = await runScenarios(scenarios, {
    ...{ quick: plan.quick, created: payments },
    ...{ actors, random, load },
  });
  const openingOutages = await failing;
  await notifications.waitForAll();
  faults.abort();
  const [kills, outages] = await Promise.all([killing, breaking, disturbing, flapping]);
  const breaks = outages.postgres.length + outages.temporal.length;
  say(
    `${payments.length} payments created, ${kills.length} kills, ${breaks} broken links; waiting until everything is done …`,
  );

  const calmAt = Date.now();
  await endOpen(payments, { actors, quick: plan.quick });
  await Promise.race([drain(sql, payments, plan.drainMs), environment.broken]);
  const leftMs = calmAt + plan.drainMs - Date.now();
  const workflowProblems = await findWorkflowProblems(payments, production.temporal, leftMs);
  const drainedMs = Date.now() - calmAt;
  const apiUrl = production.url;
  const readRecords = () => readServiceRecords(payments, { sql, client, token, apiUrl });
  const records = await readRecords();
  const posts = receiver.posts();
  const disruptions = findDisruptions(production.members, outages);
  const evidence = { payments, refused, records, posts, disruptions, journal };
  const conversion = measureConversion({ payments, records }, openingOutages);
  const answered = new Set([...payments, ...refused].map(({ order }) => order));
  const violations: Violation[] = [
    ...checkAll(evidence),
    ...workflowProblems,
    ...[
      ...findUnusedFallbacks({ payments, records }, openingOutages),
      ...findConversionProblems(conversion),
    ].map((text) => ({ order: '', text })),
    ...scenarios
      .filter(({ order }) => !answered.has(order))
      .map(({ order }) => ({ order, text: 'it was not created within two minutes' })),
    ...findUnexplainedEnds(production.members, kills).map((name) => ({
      order: '',
      text: `${name} ended without being killed`,
    })),
    ...[...(await orders.stop())].map((order) => ({
      order,
      text: 'two of its payments were paid at once, and neither was given back in full',
    })),
  ];
  violations.push(...(await compareAccounts(sql, production, { kills: plan.quick ? 0 : 10 })));
  return {
    created: payments.length,
    refused: refused.length,
    kills,
    memory: new Map([...(await watching)].map(([role, lives]) => [role, sumLives(lives)])),
    violations: violations.map((one) => ({
      ...one,
      timeline: one.payment ? formatTimeline(one.payment, { journal, posts, kills }) : [],
    })),
    recoveries: measureRecoveries(kills, posts),
    statuses: countBy(
      [...records.shown.values()].map(({ status, failure_code: code }) =>
        code === 'order_already_paid' ? code : status,
      ),
    ),
    responses: journal.responses(),
    posts: posts.length,
    conversion,
    drainedMs,
    ...{ evidence, readRecords, sql },
  };
};

const mostOfAnOrder = 5;

interface ScenarioRun extends Pick<Plan, 'quick'> {
  actors: Actors;
  random: Random;
  load: Load;
  /** Gets the payments that are created. */
  created: CreatedPayment[];
}

/** Returns the scenarios whose payments were refused, once every payer has finished. */
const runScenarios = async (
  scenarios: readonly Scenario[],
  { actors, random, load, created, quick }: ScenarioRun,
): Promise<RefusedScenario[]> => {
  const refused: RefusedScenario[] = [];
  const runOne = async (scenario: Scenario, index: number) => {
    await load.turnOf(index);
    await sleep(scenario.afterMs);
    const begin = scenario.byLink ? actors.beginByLink : actors.application.create;
    const payment = await begin(scenario);
    if (!payment) return;
    if ('paidBy' in payment) return void refused.push(payment);
    created.push(payment);
    await runPayer(actors, payment, random.branch(scenario.order));
    if (quick) await actors.application.verifyUntilEnded(payment);
    await actors.application.refund(payment);
  };
  await Promise.all(scenarios.map(runOne));
  return refused;
};

/**
 * Asks about the payments whose deadline is not waited for. Kills can have lasted longer than the patience of a caller: then nobody
 * has cancelled, or come back, and the payment would be open for 4 minutes, or for half an hour by a link.
 */
const endOpen = async (
  payments: readonly CreatedPayment[],
  { actors: { application }, quick }: Pick<ScenarioRun, 'actors' | 'quick'>,
): Promise<void> => {
  const mayBeOpen = payments.filter(({ link }) => quick || link !== undefined);
  await Promise.all(
    mayBeOpen.map((payment) =>
      payment.behaviour === 'callOff' || payment.behaviour === 'cancel'
        ? application.cancel(payment)
        : application.verifyUntilEnded(payment),
    ),
  );
};

const countBy = (names: readonly string[]): Map<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
