import { setTimeout as sleep } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createAccountDays } from '../../../postgres/accounts/days.ts';
import { comparisonsScheduleId } from '../../../temporal/comparisons.ts';
import { accountDayWorkflowId } from '../../../temporal/messages.ts';
import { sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { startService } from '../../support/service/service.ts';
import { addStripe } from '../../support/service/stripe-account.ts';
import { pendingSweep, sweepDetails, sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService({ ownTemporal: true }));
beforeEach(() => service.receiver.behave(() => 204));

/** A payment that is paid at the gateway, while its payer has closed the browser. */
const paidAndClosed = async () => {
  const { journey } = await service.anApplication();
  const id = await journey.atGateway();
  await journey.choose(id, 'pay_and_close');
  const statusAfterSweep = async () => {
    await sweepNow(service.client);
    await until('the webhook', () => service.receiver.of(id)[0]);
    return (await journey.get(id)).json['status'];
  };
  return { id, statusAfterSweep };
};

/** The restored backup is from before the checkout. A superuser's replica role fires no trigger. */
const loseCheckout = (id: string) =>
  service.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      update payments set checkout_at = null, created_at = now() - interval '3 minutes'
      where id = ${id}`;
  });

describe('a sweep', () => {
  it.each(['docs/operating/restoring.md', 'deploy/after-restore.sql'])(
    'asks about the payers whose checkouts a restore has lost, after the statement of %s',
    async (path) => {
      const [statement = ''] =
        /update payments set checkout_at[^;"]*/.exec(readProjectFile(path)) ?? [];
      const { id, statusAfterSweep } = await paidAndClosed();
      await loseCheckout(id);
      const listed = await service.sql.unsafe(statement.replace(/'20\d\d-[^']*'/, 'now()'));
      expect(listed.map((row) => String(row['id']))).toContain(id);
      expect(await statusAfterSweep()).toBe('paid');
    },
  );
});

describe('the sweeper', () => {
  const sweeper = () => service.client.workflow.getHandle(sweeperWorkflowId);
  /** Runs the command of docs/operating/temporal.md. */
  const temporal = (...args: string[]) =>
    promisify(execFile)(inject('temporalProgram'), [
      ...args,
      '--workflow-id',
      sweeperWorkflowId,
      '--address',
      service.env.TEMPORAL_ADDRESS,
    ]);
  const activity = (command: string) => temporal('activity', command, '--activity-id', 'sweep');
  const startedAt = async () => {
    const sweep = await pendingSweep(service.client);
    return sweep && sweepDetails(sweep)['startedAt'];
  };

  it('pauses and resumes with one command of Temporal, also over a restart of the worker', async () => {
    await sweepNow(service.client);
    await activity('pause');
    const lastSweep = await startedAt();
    await service.worker.stop();
    await service.worker.start();
    expect((await pendingSweep(service.client))?.paused).toBe(true);
    // A reset that keeps the pause would start a sweep at once if the activity were not paused.
    await temporal('activity', 'reset', '--activity-id', 'sweep', '--keep-paused');
    expect((await pendingSweep(service.client))?.paused).toBe(true);
    expect(await startedAt()).toBe(lastSweep);

    await activity('unpause');
    expect((await pendingSweep(service.client))?.paused).toBe(false);
    await until('it sweeps again', async () => (await startedAt()) !== lastSweep);
  });

  it('sweeps at once after a reset of its activity', async () => {
    // On a busy machine the command may take as long as the usual wait of 30 s; then another try shows it.
    const isSoon = async () => {
      await sweepNow(service.client);
      const lastSweep = await startedAt();
      await activity('reset');
      await until('it sweeps', async () => (await startedAt()) !== lastSweep);
      const waitedMs = Date.parse(String(await startedAt())) - Date.parse(String(lastSweep));
      return waitedMs < 29_000;
    };
    expect(await until('a sweep soon after the last one', isSoon)).toBe(true);
  });

  it('continues in the same run after its worker was killed during a sweep', async () => {
    const { runId } = await sweeper().describe();
    const lock = await holdLock(
      service.sql,
      (tx) => tx`lock table workflow_outbox in access exclusive mode`,
    );
    const sweeping = sweepNow(service.client);
    await lock.blocked('the sweep', { by: 'payments-worker' });
    await service.worker.kill();
    await lock.release();
    await service.worker.start();
    // Temporal waits 25 seconds for the lost attempt.
    await sweeping;
    expect((await sweeper().describe()).runId).toBe(runId);
  });

  it('leaves no closed run, and starts again with the next worker after a termination', async () => {
    const countClosed = async () => {
      const query = "WorkflowType = 'sweeper' AND ExecutionStatus != 'Running'";
      return (await service.client.workflow.count(query)).count;
    };
    expect(await countClosed()).toBe(0);
    await sweeper().terminate('a test');
    await until('the list knows the termination', async () => (await countClosed()) === 1);
    await service.worker.stop();
    await service.worker.start();
    await sweepNow(service.client);
  });
});

/** Adds a gateway that is some days old, and has one charge of its first day. */
const addOldStripe = async (slug: string, days: number) => {
  const stripe = await addStripe(service, slug);
  onTestFinished(stripe.stop);
  await service.sql`
    update gateways set created_at = now() - make_interval(days => ${days}, hours => 1) where slug = ${slug}`;
  return stripe;
};
/** Starts a run as its times do: by itself, a trigger goes round the policy of the schedule. */
const compareBySchedule = async () => {
  // Temporal names a run by its second, and starts none of a name that it has.
  await sleep(1_000);
  const schedule = service.client.schedule.getHandle(comparisonsScheduleId);
  await schedule.trigger((await schedule.describe()).policies.overlap);
};
const closedDays = async (gateway: string) => {
  const range = { gateway, from: '2026-01-01', to: '9999-12-31' };
  const all = await createAccountDays(service.sql).list(range, { application: null, test: null });
  return all.filter(({ closedAt }) => closedAt !== null);
};
const closes = (gateway: string, days: number) =>
  until(`the days of ${gateway}`, async () => {
    const closed = await closedDays(gateway);
    return closed.length === days && closed;
  });

it('compares and closes by a schedule the days that are over', async () => {
  const slug = 'stripe-of-last-week';
  await addOldStripe(slug, 3);
  await compareBySchedule();
  const days = await closes(slug, 3);
  expect(days.map(({ method, movements }) => [method, movements])).toEqual(
    Array.from({ length: 3 }, () => ['list', 0]),
  );
});

it('closes the days of other gateways while books without an end hold theirs', async () => {
  const faults = ['repeats', 'endless'] as const;
  const stuck = await Promise.all(
    faults.map(async (fault) => {
      const stripe = await addOldStripe(`stripe-${fault}`, 2);
      const at = new Date(Date.now() - 2 * 86_400_000);
      const charge = {
        amount: 990,
        currency: 'eur',
        trackingCode: 'pi_of_somebody',
        paymentId: '',
      };
      stripe.charge(charge, { at });
      stripe.faultOfBook(fault);
      const [first] = await service.sql<{ day: string }[]>`
        select (created_at at time zone 'utc')::date::text as day from gateways where slug = ${`stripe-${fault}`}`;
      const day = { gateway: `stripe-${fault}`, day: first!.day };
      const comparison = service.client.workflow.getHandle(accountDayWorkflowId(day));
      return { stripe, comparison };
    }),
  );
  await addOldStripe('stripe-in-the-same-run', 2);
  await compareBySchedule();
  await closes('stripe-in-the-same-run', 2);
  for (const { comparison } of stuck)
    await until('its comparison', async () => {
      const found = await comparison.describe().catch(() => undefined);
      return found?.status.name === 'RUNNING';
    });

  await addOldStripe('stripe-in-the-next-run', 2);
  await compareBySchedule();
  await closes('stripe-in-the-next-run', 2);

  const [repeating] = stuck;
  await until('the reason', async () => {
    const { raw } = await repeating!.comparison.describe();
    const [pending] = raw.pendingActivities ?? [];
    return pending?.lastFailure?.message?.includes('repeats its position');
  });
  for (const { stripe, comparison } of stuck) {
    expect((await comparison.describe()).status.name).toBe('RUNNING');
    stripe.faultOfBook(undefined);
    // Temporal ends it after five hours.
    await comparison.terminate('a test');
  }
  await compareBySchedule();
  for (const fault of faults) await closes(`stripe-${fault}`, 2);
});
