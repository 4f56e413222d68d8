import type { Client } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/index.ts';
import { createFinalizer, type Deps as FinalizerDeps } from '../../../activities/finalize.ts';
import {
  createSweeperTasks,
  type Deps as SweeperDeps,
} from '../../../activities/sweeper-tasks/index.ts';
import { createDeliveries } from '../../../postgres/webhooks/deliveries.ts';
import { createDisputes } from '../../../postgres/payments/disputes.ts';
import type { Queries, Sql } from '../../../postgres/driver/sql.ts';
import { createLinkEnds } from '../../../postgres/links/ends.ts';
import { createLinks } from '../../../postgres/links/links.ts';
import { createLatePayments } from '../../../postgres/payments/late-payments.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { createPayments } from '../../../postgres/payments/payments.ts';
import { createRefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createWorkflowOutbox } from '../../../postgres/payments/workflow-outbox.ts';
import { type Exploration, explore, toText } from '../../../protocol/explorer.ts';
import type { Part } from '../../../protocol/part.ts';
import { type AnyState, parts, plantedFaults } from '../../../protocol/parts.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { withModel } from '../../../tools/protocol-page.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { adapterCalls } from '../../support/gateways/adapter-calls.ts';

/** A part, and all parts together, stay so small that checking them takes seconds. */
const mostTransitions = { ofPart: 530_000, ofAll: 2_500_000 };

const found = new Map<Part<AnyState>, Exploration<AnyState>>();
/** Each part is explored once. */
const explored = (part: Part<AnyState>): Exploration<AnyState> => {
  const exploration = found.get(part) ?? explore(part);
  found.set(part, exploration);
  return exploration;
};

const cpuSeconds = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
};

describe('every part keeps its rules in all its states', () => {
  let total = 0;

  it.each(parts)('$name', (part) => {
    const before = cpuSeconds();
    const { states, edges, counterexample } = explored(part);
    const seconds = cpuSeconds() - before;
    total += edges.length;
    const size = `${states.length} states, ${edges.length} transitions`;
    console.log(`${part.name}: ${size}, ${seconds.toFixed(2)} s of CPU`);
    expect(counterexample && toText(counterexample)).toBeUndefined();
    expect(edges.length).toBeLessThanOrEqual(mostTransitions.ofPart);
  });

  it('and all parts together stay small', () => {
    console.log(`All parts: ${total} transitions`);
    expect(total).toBeLessThanOrEqual(mostTransitions.ofAll);
  });

  it('and docs/protocol.md has their diagrams and rules; `node tools/protocol-page.ts` writes them', () => {
    const page = readProjectFile('docs/protocol.md');
    expect(withModel(page, explored)).toBe(page);
  });
});

describe('the explorer finds every planted fault', () => {
  it('at least twelve kinds of them', () => {
    expect(new Set(plantedFaults.map(({ fault }) => fault)).size).toBeGreaterThanOrEqual(12);
  });

  it.each(plantedFaults)('$part.name: $fault', ({ fault, part }) => {
    const { counterexample } = explore(part);
    expect(counterexample).toBeDefined();
    if (counterexample) console.log(`${part.name}, ${fault}\n${toText(counterexample)}`);
  });
});

// Nothing is called here: the names of the functions are all that the test needs.
const sql = {} as Queries & Sql;
const client = { workflow: {} } as Client;

const transactions = {
  paymentOutcomes: createPaymentOutcomes(sql),
  deliveries: createDeliveries(sql),
  disputes: createDisputes(sql),
  linkEnds: createLinkEnds(sql),
  latePayments: createLatePayments(sql),
  orders: createOrders(sql),
  workflowOutbox: createWorkflowOutbox(sql),
};
const inCode = new Set([
  ...Object.values(transactions).flatMap((queries) => Object.keys(queries)),
  ...Object.keys(createPayments(sql)),
  ...Object.keys(createLinks(sql)),
  ...Object.keys(createRefundOutcomes(sql)),
  ...Object.keys(createWorkflowCalls(client)),
  ...Object.keys(createFinalizer({} as FinalizerDeps)),
  ...Object.keys(createActivities({ sql } as unknown as Parameters<typeof createActivities>[0])),
  ...Object.keys(createSweeperTasks({} as SweeperDeps)),
  ...Object.keys(adapterCalls),
  'onlyIfUnsent', // An option of `finalize`.
  'start',
]);

/** Specified, and not built yet. */
const notBuilt = new Set(['signalWithStart']);

/** Writes whose order does not matter. */
const unordered = new Set([
  'flagDuplicates', // It only alerts.
  'keepTrackingCode', // The payment has ended, and no other step reads it.
  'postpone', // It delays an attempt, and every step may come late.
  'reportKey', // Written once, before the opening that it is sent with; each repetition reads the same.
  'count',
  'exists',
  'list',
  'listOpen',
  'get',
]);

const namesIn = (step: string): string[] =>
  [...step.matchAll(/\b[a-z]\w*\.([a-z]\w*)\b|\b([a-z]+[A-Z]\w*)\b/g)].flatMap(
    ([, method, camel]) => method ?? camel ?? [],
  );

describe('the names of the steps', () => {
  const steps: string[] = [];

  beforeAll(() => {
    const edges = parts.flatMap((part) => explored(part).edges);
    steps.push(...new Set(edges.map(({ step }) => step)));
  });

  it('are those of functions of the code, or of what is not built yet', () => {
    const unknown = steps.flatMap((step) =>
      namesIn(step)
        .filter((name) => !inCode.has(name) && !notBuilt.has(name))
        .map((name) => `${name} in "${step}"`),
    );
    expect(unknown).toEqual([]);
  });

  it('do not call anything unbuilt that the code has', () => {
    expect([...notBuilt].filter((name) => inCode.has(name))).toEqual([]);
  });

  it.each(Object.entries(transactions))('have every transaction of %s', (_, queries) => {
    const missing = Object.keys(queries).filter(
      (name) =>
        !unordered.has(name) && !steps.some((step) => new RegExp(`\\b${name}\\b`).test(step)),
    );
    expect(missing).toEqual([]);
  });
});
