import { newReplayId, replayIdPattern } from '../contract/ids.ts';
import { limits } from '../contract/limits.ts';
import { isoTime } from '../contract/time.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import {
  createReplays,
  type Replay,
  type ReplayFilter,
  type ReplayResult,
} from '../postgres/replays.ts';
import type { TemporalAdmin } from '../temporal/admin-client.ts';
import { TemporalUnavailable } from '../temporal/payment-workflows.ts';
import { findApplication } from './applications.ts';
import type { MakeChange } from './change.ts';
import { Refusal } from './change.ts';

export interface Deps {
  sql: Sql;
  change: MakeChange;
  /** @throws if Temporal cannot be reached */
  temporal: () => Promise<Pick<TemporalAdmin, 'startReplayMany'>>;
}

export interface RetriggerOptions {
  /** A limit for the sake of the receivers and of Temporal, from 1 to 100. */
  perSecond: number;
  reason: string | null;
}

const perSecondMax = 100;

/** Re-triggers of many deliveries, which a workflow works off. Applications' replays are among them. */
export const createRetriggerOperations = ({ sql, change, temporal }: Deps) => {
  const replays = createReplays(sql);

  const startWorkflow = async (id: string, application: string | null): Promise<void> => {
    try {
      await (await temporal()).startReplayMany(id, application);
    } catch (error) {
      if (error instanceof TemporalUnavailable)
        throw new Refusal('Temporal is unavailable. Try again later.', { cause: error });
      throw error;
    }
  };

  /** @throws Refusal */
  const find = async (id: string): Promise<Replay> => {
    const replay = replayIdPattern.test(id) ? await replays.find(id) : undefined;
    if (!replay) throw new Refusal(`There is no re-trigger ${id}.`);
    return replay;
  };

  /** @throws Refusal if there are none, or too many */
  const count = async (filter: ReplayFilter): Promise<number> => {
    if (filter.application !== null) await findApplication(sql, filter.application);
    const matched = await replays.countMatching(filter, limits.replayEvents + 1);
    if (matched === 0)
      throw new Refusal(
        `No ${filter.delivery} delivery matches. Those of applications without a webhook URL do not count.`,
      );
    if (matched > limits.replayEvents)
      throw new Refusal(
        `More than ${limits.replayEvents.toLocaleString('en')} deliveries match. Choose an application or a shorter time.`,
      );
    return matched;
  };

  return {
    count,
    get: find,
    listResults: (id: string, page: { after: number; limit: number }): Promise<ReplayResult[]> =>
      replays.listResults(id, page),
    list: (limit: number): Promise<Replay[]> => replays.list(limit),
    listRunning: (limit: number): Promise<Replay[]> => replays.listRunning(limit),

    /** Begins the next round of every delivery that matches. @returns the id of the re-trigger */
    async start(filter: ReplayFilter, { perSecond, reason }: RetriggerOptions): Promise<string> {
      if (!(Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= perSecondMax))
        throw new Refusal(`The rate is a whole number from 1 to ${perSecondMax} a second.`);
      const matched = await count(filter);
      const runningId = filter.eventIds ? undefined : await replays.getRunningRetrigger(filter);
      if (runningId !== undefined) throw alreadyRunning(runningId);
      const id = newReplayId();
      // Before the record, which the workflow waits for: without Temporal there is no re-trigger.
      await startWorkflow(id, null);
      await change(
        { action: 'delivery.retrigger_many', subject: `replay:${id}`, reason },
        async (tx) => {
          const created = createReplays(tx);
          if (!(await created.insertRetrigger({ ...filter, id, matched, perSecond })))
            throw alreadyRunning((await created.getRunningRetrigger(filter)) ?? '');
          const after = { ...toAuditFacts(filter), events: matched, per_second: perSecond };
          return { result: undefined, before: null, after };
        },
      );
      return id;
    },

    /** It stops before its next event. Rounds that have begun go on. */
    async stop(id: string, reason: string | null): Promise<void> {
      await change(
        { action: 'delivery.retrigger_stop', subject: `replay:${id}`, reason },
        async (tx) => {
          const { status, stopRequested, begun, refused, matched } = await find(id);
          if (status !== 'running') throw new Refusal('It has ended already.');
          if (stopRequested) throw new Refusal('It is stopping already.');
          await createReplays(tx).requestStop(id);
          return { result: undefined, before: { begun, refused, events: matched }, after: null };
        },
      );
      const { trigger, application } = await find(id);
      // Does nothing unless the workflow was lost: then nobody else would see the mark.
      await startWorkflow(id, trigger === 'admin' ? null : application).catch(() => {});
    },
  };
};

const alreadyRunning = (id: string) =>
  new Refusal(`Another re-trigger of this application and mode is running: ${id}.`);

const toAuditFacts = ({
  application,
  test,
  delivery,
  from,
  to,
  errorClass,
  eventIds,
}: ReplayFilter) => ({
  delivery,
  application: application ?? 'all',
  mode: test === null ? 'live and test' : test ? 'test' : 'live',
  ...(errorClass !== null && { error: errorClass }),
  ...(eventIds ? { selected: true } : { from: isoTime(from), to: isoTime(to) }),
});
