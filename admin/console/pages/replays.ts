import { html } from 'hono/html';
import { limits } from '../../../contract/limits.ts';
import { Refusal } from '../../operations/change.ts';
import { labelOf } from '../../operations/labels.ts';
import type {
  OperatorReplay,
  Replay,
  ReplayFilter,
  ReplayResult,
  ReplayStatus,
} from '../../../postgres/webhooks/replays.ts';
import type { Action } from '../actions.ts';
import { csvOf } from '../../operations/csv.ts';
import { readReplayFilter, writeDeliveryFilter } from '../delivery-filter.ts';
import { select } from '../filters.ts';
import type { FormatTime, Html, Row } from '../html.ts';
import { action, coded, codedState, idLink, link } from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import { modeName } from '../mode.ts';
import { oneOf } from '../query.ts';
import type { ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';

const listMax = 50;
/** Each page of the result is a statement of its own, so that a slow reader holds no connection to Postgres. */
const resultPageSize = 1_000;

const stateOf = ({ status, stopRequested }: Replay): ReplayStatus | 'stopping' =>
  status === 'running' && stopRequested ? 'stopping' : status;

const doneOf = ({ begun, refused }: Replay): number => begun + refused;

const describeOwner = ({ application, test }: Pick<ReplayFilter, 'application' | 'test'>): Html =>
  html`${application === null ? 'all' : link(`/applications/${application}`, application)}${
    test === null ? '' : ` (${modeName(test)})`
  }`;

const count = (many: number): string => many.toLocaleString('en');

const durationWords = new Intl.DurationFormat('en', { style: 'long' });

const duration = (seconds: number): string => {
  if (seconds < 90) return durationWords.format({ seconds: Math.max(1, Math.round(seconds)) });
  if (seconds < 5_400) return durationWords.format({ minutes: Math.round(seconds / 60) });
  return durationWords.format({ hours: Math.round(seconds / 3_600) });
};

const describeTimes = ({ from, to }: Pick<ReplayFilter, 'from' | 'to'>, format: FormatTime) =>
  from === null ? `until ${format(to)}` : `${format(from)} – ${format(to)}`;

/** The list with the same filter. */
const listOf = (filter: ReplayFilter): string => {
  const query = writeDeliveryFilter(filter);
  query.delete('mode');
  return `/deliveries?${String(query)}`;
};

const rateOf = ({ perSecond }: Replay): number => perSecond ?? limits.replaysPerSecond;

const starterOf = ({ trigger, startedBy }: OperatorReplay): string =>
  trigger === 'application' ? 'the application' : (startedBy ?? 'an operator');

const rowOf = (replay: OperatorReplay): Row => ({
  Replay: idLink(`/deliveries/replays/${replay.id}`, replay.id),
  Started: replay.createdAt,
  By: starterOf(replay),
  State: codedState('replay', stateOf(replay)),
  Deliveries: coded('delivery', replay.delivery),
  Application: describeOwner(replay),
  Begun: `${count(doneOf(replay))} of ${count(replay.matched)}`,
  Ended: replay.endedAt,
});

/** Shows what remains to an operator who decides whether to stop it. */
const progress = (replay: Replay): Html => {
  const done = doneOf(replay);
  const left = Math.max(0, replay.matched - done);
  const isRunning = replay.status === 'running';
  return html`<div class="progress">
    <p>
      ${codedState('replay', stateOf(replay))} <strong>${count(done)} of ${count(replay.matched)}</strong>
      ${
        isRunning && left > 0
          ? html`<span class="soft">at least ${duration(left / rateOf(replay))} left</span>`
          : ''
      }
    </p>
    <progress max="${Math.max(1, replay.matched, done)}" value="${done}" aria-label="Progress"></progress>
  </div>`;
};

/** The result as CSV. */
const resultFile = csvOf<[ReplayResult]>({
  number: ({ number }) => number,
  result: ({ begun }) => (begun ? 'begun' : 'left out'),
  payment_id: ({ paymentId }) => paymentId,
  event_id: ({ eventId }) => eventId,
  event: ({ kind }) => kind,
  application: ({ application }) => application,
  mode: ({ test }) => (test ? 'test' : 'live'),
  order_id: ({ orderId }) => orderId,
  delivery: ({ delivery }) => delivery,
  attempts: ({ attempts }) => attempts,
  response_status: ({ responseStatus }) => responseStatus,
  error: ({ errorClass }) => errorClass,
});

const list = async ({ cells, operations, test }: PersonRequest): Promise<ConsoleResponse> => {
  const found = await operations.replays.list(listMax, test);
  return page(
    'Replays',
    html`<p class="soft">The last ${listMax}, with those that applications began by themselves.</p>
        ${cells.table({
          caption: 'Replays',
          rows: found.map(rowOf),
          ifEmpty: 'Nobody has replayed many deliveries at once yet.',
        })}
        <div class="actions">${action('/deliveries', 'Deliveries')}</div>`,
  );
};

const current = async (request: PersonRequest): Promise<Live> => {
  const { params, session, operations, cells, formatTime } = request;
  const replay = await operations.replays.get(params.id);
  const subject = `replay:${replay.id}`;
  const records = await operations.auditLog({ subject, limit: 10 });
  const started = records.at(-1);
  const stopped = records.find((record) => record.action === 'delivery.replay_stop');
  const isRunning = replay.status === 'running';
  const at = `/deliveries/replays/${replay.id}`;
  const mayStop = isRunning && !replay.stopRequested && session.role !== 'viewer';
  return live(
    html`${progress(replay)}
      ${cells.facts({
        Deliveries: coded('delivery', replay.delivery),
        Which: replay.eventIds ? 'the selected' : `ended ${describeTimes(replay, formatTime)}`,
        Application: describeOwner(replay),
        Event: replay.kind && coded('event', replay.kind),
        'Last error': replay.errorClass && coded('attemptError', replay.errorClass),
        Rate: `at most ${rateOf(replay)} a second`,
        'Rounds begun': replay.begun,
        'Left out': replay.refused === 0 ? null : `${count(replay.refused)}, had another status`,
        By: starterOf(replay),
        Reason: replay.trigger === 'application' ? null : started?.reason,
        'Stopped by': stopped ? `${stopped.actor}: ${stopped.reason ?? ''}` : null,
        Started: replay.createdAt,
        Ended: replay.endedAt,
      })}
      ${
        isRunning
          ? html`<div class="actions">
              ${mayStop ? action(`${at}/stop`, 'Stop') : ''} ${action(at, 'Refresh')}
            </div>`
          : ''
      }
      <p class="soft">
        A round that has begun makes up to six attempts. The lists of deliveries show how they end.
      </p>
      <p class="links">
        ${doneOf(replay) === 0 ? '' : link(`${at}/result`, 'Result as CSV')}
        ${
          replay.test === null || replay.test === request.test
            ? html`${link(listOf(replay), `Deliveries that are still ${labelOf('delivery', replay.delivery)}`)}
              ${link('/deliveries?status=pending', 'Deliveries that are pending')}`
            : ''
        }
        ${link(`/audit?subject=${subject}`, 'Audit')} ${link('/deliveries/replays', 'All replays')}
      </p>`,
    { address: isRunning ? `${at}/state` : null, seconds: 2 },
  );
};

const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { content } = await current(request);
  return page(`Replay ${request.params.id}`, content);
};

const download = async ({ params, operations }: PersonRequest): Promise<ConsoleResponse> => {
  const { replays } = operations;
  const { id } = await replays.get(params.id);
  const lines = async function* () {
    yield resultFile.heading;
    for (let after = 0; ;) {
      const results = await replays.listResults(id, { after, limit: resultPageSize });
      yield results.map((result) => resultFile.line(result)).join('');
      const last = results.at(-1);
      if (last === undefined || results.length < resultPageSize) return;
      after = last.number;
    }
  };
  return { kind: 'file', name: `${id}.csv`, lines: lines() };
};

export const replayRoutes: Route[] = [
  { method: 'GET', path: '/deliveries/replays', role: 'viewer', handle: list },
  { method: 'GET', path: '/deliveries/replays/:id', role: 'viewer', handle: show },
  { method: 'GET', path: '/deliveries/replays/:id/result', role: 'viewer', handle: download },
  pollRoute('/deliveries/replays/:id/state', current),
];

/** The effect of a replay on one delivery. */
const effects: Record<ReplayFilter['delivery'], string> = {
  failing: 'The next attempt of the round is made now.',
  exhausted: 'A new round of up to six attempts begins.',
  undelivered:
    'A new round of up to six attempts begins; a failing delivery makes the next attempt of its round now.',
  delivered: 'A new round of up to six attempts begins.',
};

const rates = ['1', '2', '5', '10', '20'] as const;
const usualRate = '10';

export const replayActions: readonly Action[] = [
  {
    path: '/deliveries/replay',
    role: 'operator',
    confirm: async (request) => {
      const { query, form, operations, formatTime } = request;
      const filter = readReplayFilter(query);
      const many = await operations.replays.count(filter);
      const rate = oneOf(rates)(form.get('rate')) ?? usualRate;
      const which = filter.eventIds ? 'selected' : 'matching';
      return {
        title: many === 1 ? 'Replay one webhook' : `Replay ${count(many)} webhooks`,
        consequence: `${effects[filter.delivery]} This goes for ${many === 1 ? `the ${which} delivery` : `each of the ${count(many)} ${which} deliveries, oldest first`}, to the current webhook URL. ${
          filter.delivery === 'delivered'
            ? 'The receivers have accepted these events, and get them again.'
            : 'A receiver may get an event twice.'
        } At ${usualRate} a second it takes at least ${duration(many / Number(usualRate))}. It can be stopped.`,
        button: 'Replay',
        done: 'The replay has begun.',
        back: listOf(filter),
        facts: {
          Deliveries: coded('delivery', filter.delivery),
          Application: describeOwner(filter),
          Event: filter.kind && coded('event', filter.kind),
          Ended: describeTimes(filter, formatTime),
          'Last error': filter.errorClass && coded('attemptError', filter.errorClass),
        },
        fields: select('Rounds a second, at most', 'rate', { choices: rates, chosen: rate }),
      };
    },
    execute: async ({ operations, form, query }, reason) => {
      const perSecond = Number(oneOf(rates)(form.get('rate')) ?? usualRate);
      const filter = readReplayFilter(query);
      const id = await operations.replays.start(filter, { perSecond, reason });
      return redirect(`/deliveries/replays/${id}`, 'The replay has begun.');
    },
  },
  {
    path: '/deliveries/replays/:id/stop',
    role: 'operator',
    confirm: async ({ params: { id }, operations, formatTime }) => {
      const replay = await operations.replays.get(id);
      if (replay.status !== 'running') throw new Refusal('It has ended already.');
      return {
        title: 'Stop the replay',
        consequence: `It stops before its next delivery. Rounds that have begun go on, so far ${count(replay.begun)} of ${count(replay.matched)}; the other deliveries stay as they are.`,
        facts: {
          ...rowOf(replay),
          Which: replay.eventIds ? 'the selected' : `ended ${describeTimes(replay, formatTime)}`,
        },
        button: 'Stop',
        done: 'The replay stops before its next delivery.',
        back: `/deliveries/replays/${replay.id}`,
      };
    },
    execute: async ({ operations, params }, reason) => {
      await operations.replays.stop(params.id, reason);
    },
  },
];
