import { html } from 'hono/html';
import { Refusal } from '../../operations/change.ts';
import { errorClasses } from '../../contract/attempt-error.ts';
import { eventIdPattern } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type { Replay, ReplayFilter, ReplayResult } from '../../postgres/replays.ts';
import type { Action } from '../actions.ts';
import { csvLine } from '../csv.ts';
import { choose, pageSize, readFilter, select } from '../filters.ts';
import type { Cell, FormatTime, Html } from '../html.ts';
import { action, idLink, link, state } from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { retriggerable } from './deliveries.ts';

const listMax = 50;
/** Each page of the result is a statement of its own, so that a slow reader holds no connection to Postgres. */
const resultPageSize = 1_000;

const stateOf = ({ status, stopRequested }: Replay): string =>
  status === 'running' && stopRequested ? 'stopping' : status;

const doneOf = ({ begun, refused }: Replay): number => begun + refused;

const describeOwner = ({ application, test }: Pick<ReplayFilter, 'application' | 'test'>): Html =>
  html`${application === null ? 'all' : link(`/applications/${application}`, application)}${
    test === null ? '' : test ? ' (test)' : ' (live)'
  }`;

const count = (many: number): string => many.toLocaleString('en');

const duration = (seconds: number): string => {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
};

const describeTimes = ({ from, to }: Pick<ReplayFilter, 'from' | 'to'>, format: FormatTime) =>
  from.getTime() === 0 ? `until ${format(to)}` : `${format(from)} – ${format(to)}`;

const rateOf = ({ perSecond }: Replay): number => perSecond ?? limits.replaysPerSecond;

const rowOf = (replay: Replay): Cell[] => [
  idLink(`/deliveries/retriggers/${replay.id}`, replay.id),
  replay.createdAt,
  replay.trigger === 'admin' ? 'an operator' : 'the application',
  state(stateOf(replay)),
  replay.delivery,
  describeOwner(replay),
  `${count(doneOf(replay))} of ${count(replay.matched)}`,
  replay.endedAt,
];

/** Shows what remains to an operator who decides whether to stop it. */
const progress = (replay: Replay): Html => {
  const done = doneOf(replay);
  const left = Math.max(0, replay.matched - done);
  const isRunning = replay.status === 'running';
  return html`<div class="progress">
    <p>
      ${state(stateOf(replay))} <strong>${count(done)} of ${count(replay.matched)}</strong>
      ${
        isRunning && left > 0
          ? html`<span class="soft">at least ${duration(left / rateOf(replay))} left</span>`
          : ''
      }
    </p>
    <progress max="${Math.max(1, replay.matched, done)}" value="${done}" aria-label="Progress"></progress>
  </div>`;
};

/** The list that shows what the re-trigger has not delivered. */
const restOf = ({ application, test, delivery, errorClass }: Replay): string =>
  `/deliveries?${String(
    new URLSearchParams({
      status: delivery,
      ...(application !== null && { application }),
      ...(test !== null && { mode: test ? 'test' : 'live' }),
      ...(errorClass !== null && { error: errorClass }),
    }),
  )}`;

/** The columns of the result as CSV. */
const resultColumns: readonly (readonly [
  heading: string,
  valueOf: (result: ReplayResult) => string | number | null,
])[] = [
  ['number', ({ number }) => number],
  ['result', ({ begun }) => (begun ? 'begun' : 'left out')],
  ['payment_id', ({ paymentId }) => paymentId],
  ['event_id', ({ eventId }) => eventId],
  ['event', ({ kind }) => kind],
  ['application', ({ application }) => application],
  ['mode', ({ test }) => (test ? 'test' : 'live')],
  ['order_id', ({ orderId }) => orderId],
  ['delivery', ({ delivery }) => delivery],
  ['attempts', ({ attempts }) => attempts],
  ['response_status', ({ responseStatus }) => responseStatus],
  ['error', ({ errorClass }) => errorClass],
];

const resultRow = (result: ReplayResult): string =>
  csvLine(resultColumns.map(([, valueOf]) => valueOf(result)));

export const retriggerRoutes = (deps: Deps): Route[] => {
  const list = async ({ cells, session }: PersonRequest): Promise<ConsoleResponse> => {
    const found = await deps.operationsOf(session.name).retriggers.list(listMax);
    return page(
      'Re-triggers',
      html`<p class="soft">The last ${listMax}, with the replays that applications began by themselves.</p>
        ${cells.table({
          caption: 'Re-triggers',
          headings: [
            'Re-trigger',
            'Started',
            'By',
            'State',
            'Deliveries',
            'Application',
            'Begun',
            'Ended',
          ],
          rows: found.map(rowOf),
          ifEmpty: 'Nobody has re-triggered many deliveries at once yet.',
        })}
        <div class="actions">${action('/deliveries', 'Deliveries')}</div>`,
    );
  };

  const current = async (request: PersonRequest): Promise<Live> => {
    const { params, session, cells, formatTime } = request;
    const operations = deps.operationsOf(session.name);
    const replay = await operations.retriggers.get(params['id'] ?? '');
    const subject = `replay:${replay.id}`;
    const records = await operations.auditLog({ subject, limit: 10 });
    const started = records.at(-1);
    const stopped = records.find((record) => record.action === 'delivery.retrigger_stop');
    const isRunning = replay.status === 'running';
    const at = `/deliveries/retriggers/${replay.id}`;
    const mayStop = isRunning && !replay.stopRequested && session.role !== 'viewer';
    return live(
      html`${progress(replay)}
      ${cells.facts([
        ['Deliveries', replay.delivery],
        ['Which', replay.eventIds ? 'the selected' : `ended ${describeTimes(replay, formatTime)}`],
        ['Application', describeOwner(replay)],
        ['Last error', replay.errorClass],
        ['Rate', `at most ${rateOf(replay)} a second`],
        ['Rounds begun', replay.begun],
        ['Left out', replay.refused === 0 ? null : `${count(replay.refused)}, had another status`],
        ['By', replay.trigger === 'application' ? 'the application' : started?.actor],
        ['Reason', replay.trigger === 'application' ? null : started?.reason],
        ['Stopped by', stopped ? `${stopped.actor}: ${stopped.reason ?? ''}` : null],
        ['Started', replay.createdAt],
        ['Ended', replay.endedAt],
      ])}
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
        ${link(restOf(replay), `Deliveries that are still ${replay.delivery}`)}
        ${link('/deliveries?status=pending', 'Deliveries that are pending')}
        ${link(`/audit?subject=${subject}`, 'Audit')} ${link('/deliveries/retriggers', 'All re-triggers')}
      </p>`,
      { address: isRunning ? `${at}/state` : null, seconds: 2 },
    );
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { content } = await current(request);
    return page(`Re-trigger ${request.params['id'] ?? ''}`, content);
  };

  const download = async ({ params, session }: PersonRequest): Promise<ConsoleResponse> => {
    const { retriggers } = deps.operationsOf(session.name);
    const { id } = await retriggers.get(params['id'] ?? '');
    const lines = async function* () {
      yield csvLine(resultColumns.map(([heading]) => heading));
      for (let after = 0; ;) {
        const results = await retriggers.listResults(id, { after, limit: resultPageSize });
        yield results.map(resultRow).join('');
        const last = results.at(-1);
        if (last === undefined || results.length < resultPageSize) return;
        after = last.number;
      }
    };
    return { kind: 'file', name: `${id}.csv`, lines: lines() };
  };

  return [
    { method: 'GET', path: '/deliveries/retriggers', role: 'viewer', handle: list },
    { method: 'GET', path: '/deliveries/retriggers/:id', role: 'viewer', handle: show },
    { method: 'GET', path: '/deliveries/retriggers/:id/result', role: 'viewer', handle: download },
    pollRoute('/deliveries/retriggers/:id/state', current),
  ];
};

const rates = ['1', '2', '5', '10', '20', '50', '100'] as const;
const usualRate = '10';

/** The list from which the person came. */
const listBehind = (query: URLSearchParams): string => {
  const list = new URLSearchParams(query);
  for (const name of ['scope', 'event']) list.delete(name);
  return `/deliveries?${String(list)}`;
};

const instant = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;
/** The confirmation page fixed the times, so that the change takes exactly what the person confirmed. */
const parseFrozenTime = (form: URLSearchParams, name: string): Date | null => {
  const text = form.get(name) ?? '';
  const at = instant.test(text) ? new Date(text) : null;
  return at && !Number.isNaN(at.getTime()) ? at : null;
};

const readScope = (request: PersonRequest, now: Date): ReplayFilter => {
  const { query, form } = request;
  const { application, test, from, to } = readFilter(request, now);
  const delivery = choose(query, 'status', retriggerable) ?? 'exhausted';
  const times = {
    from: parseFrozenTime(form, 'from') ?? from ?? new Date(0),
    to: parseFrozenTime(form, 'to') ?? to ?? now,
  };
  if (query.get('scope') === 'all') {
    const errorClass = choose(query, 'error', errorClasses);
    return { application, test, delivery, ...times, errorClass, eventIds: null };
  }
  const eventIds = query
    .getAll('event')
    .filter((id) => eventIdPattern.test(id))
    .slice(0, pageSize);
  if (eventIds.length === 0) throw new Refusal('Select a delivery first.');
  return { application: null, test: null, delivery, ...times, errorClass: null, eventIds };
};

export const retriggerActions = (deps: Deps): readonly Action[] => [
  {
    path: '/deliveries/retrigger',
    role: 'operator',
    confirm: async (request) => {
      const { query, form, session, cells, formatTime } = request;
      const scope = readScope(request, deps.now());
      const many = await deps.operationsOf(session.name).retriggers.count(scope);
      const rate = choose(form, 'rate', rates) ?? usualRate;
      const which = scope.eventIds ? 'selected' : 'matching';
      return {
        title: many === 1 ? 'Re-trigger one webhook' : `Re-trigger ${count(many)} webhooks`,
        consequence: `A new round of up to six attempts begins for each of the ${count(many)} ${which} deliveries, oldest first, to the webhook URL of now. ${
          scope.delivery === 'delivered'
            ? 'The receivers have accepted these events, and get them again.'
            : 'A receiver may get an event twice.'
        } At ${usualRate} a second it takes at least ${duration(many / Number(usualRate))}. It can be stopped.`,
        button: 'Re-trigger',
        back: listBehind(query),
        fields: html`${cells.facts([
          ['Deliveries', scope.delivery],
          ['Application', scope.eventIds ? null : describeOwner(scope)],
          ['Ended', scope.eventIds ? null : describeTimes(scope, formatTime)],
          ['Last error', scope.errorClass],
        ])}
          <input type="hidden" name="from" value="${scope.from.toISOString()}" />
          <input type="hidden" name="to" value="${scope.to.toISOString()}" />
          ${select('Rounds a second, at most', 'rate', { choices: rates, chosen: rate })}`,
      };
    },
    execute: async ({ operations, request, reason }) => {
      const perSecond = Number(choose(request.form, 'rate', rates) ?? usualRate);
      const scope = readScope(request, deps.now());
      const id = await operations.retriggers.start(scope, { perSecond, reason });
      return redirect(`/deliveries/retriggers/${id}`);
    },
  },
  {
    path: '/deliveries/retriggers/:id/stop',
    role: 'operator',
    confirm: async ({ params: { id = '' }, session }) => {
      const replay = await deps.operationsOf(session.name).retriggers.get(id);
      return {
        title: 'Stop the re-trigger',
        consequence: `It stops before its next delivery. ${count(replay.begun)} of ${count(replay.matched)} rounds have begun and go on; the other deliveries stay as they are.`,
        button: 'Stop',
        back: `/deliveries/retriggers/${replay.id}`,
      };
    },
    execute: async ({ operations, request: { params }, reason }) => {
      await operations.retriggers.stop(params['id'] ?? '', reason);
    },
  },
];
