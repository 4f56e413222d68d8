import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/index.ts';
import { createFinalizer, type Deps as FinalizerDeps } from '../../../activities/finalize.ts';
import {
  createSweeperTasks,
  type Deps as SweeperDeps,
} from '../../../activities/sweeper-tasks/index.ts';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import { createDeliveries } from '../../../postgres/deliveries.ts';
import { createDisputes } from '../../../postgres/disputes.ts';
import type { Queries, Sql } from '../../../postgres/driver/sql.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createPayments } from '../../../postgres/payments.ts';
import { createRefundOutcomes } from '../../../postgres/refund-outcomes.ts';
import { createWorkflowOutbox } from '../../../postgres/workflow-outbox.ts';
import { explore } from '../../../protocol/explorer.ts';
import { parts } from '../../../protocol/parts.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';

const steps = [...new Set(parts.flatMap((part) => explore(part).edges.map(({ step }) => step)))];

// Nothing is called here: the names of the functions are all that the test needs.
const sql = {} as Queries & Sql;
const client = { workflow: {} } as Client;
const adapterCalls: Record<keyof GatewayAdapter, true> = {
  open: true,
  verify: true,
  inquire: true,
  expire: true,
  reverse: true,
  refund: true,
  refunds: true,
  disputes: true,
  listUnverified: true,
  book: true,
  balance: true,
  payout: true,
  payoutLines: true,
  payouts: true,
};

const inCode = new Set([
  ...Object.keys(createPaymentOutcomes(sql)),
  ...Object.keys(createDeliveries(sql)),
  ...Object.keys(createDisputes(sql)),
  ...Object.keys(createLatePayments(sql)),
  ...Object.keys(createOrders(sql)),
  ...Object.keys(createPayments(sql)),
  ...Object.keys(createRefundOutcomes(sql)),
  ...Object.keys(createWorkflowOutbox(sql)),
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
  'count',
  'exists',
  'list',
  'listOpen',
  'listOthers',
  'get',
]);

const namesIn = (step: string): string[] =>
  [...step.matchAll(/\b[a-z]\w*\.([a-z]\w*)\b|\b([a-z]+[A-Z]\w*)\b/g)].flatMap(
    ([, method, camel]) => method ?? camel ?? [],
  );

describe('the names of the steps', () => {
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

  const transactions = {
    paymentOutcomes: createPaymentOutcomes(sql),
    deliveries: createDeliveries(sql),
    disputes: createDisputes(sql),
    latePayments: createLatePayments(sql),
    orders: createOrders(sql),
    workflowOutbox: createWorkflowOutbox(sql),
  };
  it.each(Object.entries(transactions))('have every transaction of %s', (_, queries) => {
    const missing = Object.keys(queries).filter(
      (name) =>
        !unordered.has(name) && !steps.some((step) => new RegExp(`\\b${name}\\b`).test(step)),
    );
    expect(missing).toEqual([]);
  });
});
