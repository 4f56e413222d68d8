import { html } from 'hono/html';
import { Refusal } from '../../operations/change.ts';
import { labelOf } from '../../operations/labels.ts';
import type { Reconciliation } from '../../operations/reconciliation.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import { action, idLink, notice, state, type Html } from '../html.ts';
import { live, pollRoute, type Live } from '../live.ts';
import { oneOf } from '../query.ts';
import type { ConsoleOperations, ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { dayMs, minuteMs } from '../../../contract/time.ts';

const shownMax = 100;
const limits = { differences: 1_000, scan: 100_000, ms: 15 * minuteMs } as const;

interface ReconcileRequest {
  by: string;
  heal: boolean;
  since: Date | null;
  reason: string;
}

interface Run extends ReconcileRequest {
  startedAt: Date;
  endedAt: Date | null;
  /** Undefined while it runs. */
  found: Reconciliation | undefined;
  /** Why it ended before its end. */
  problem: string | undefined;
  stop: () => void;
}

const describe = (error: unknown): string =>
  error instanceof Refusal ? error.message : 'Temporal or the database did not answer.';

/** One comparison at a time, in this process: it takes longer than a request may. */
const createJob = ({ now, logger }: Pick<Deps, 'now' | 'logger'>) => {
  let last: Run | undefined;
  return {
    last: () => last,
    start({ reconcile }: Pick<ConsoleOperations, 'reconcile'>, request: ReconcileRequest) {
      if (last?.endedAt === null)
        throw new Refusal(`${last.by} is comparing already. Wait for the result.`);
      const controller = new AbortController();
      const { signal } = controller;
      const run: Run = {
        ...request,
        startedAt: now(),
        endedAt: null,
        found: undefined,
        problem: undefined,
        stop: () => controller.abort(),
      };
      last = run;
      const timeout = setTimeout(run.stop, limits.ms);
      const { since, heal, reason } = request;
      const work = async () => {
        try {
          const { differences: limit, scan } = limits;
          run.found = await reconcile({ since, heal, reason, limit, scan, signal });
          if (run.found.error !== undefined) throw run.found.error;
        } catch (error) {
          run.problem = describe(error);
          if (!signal.aborted) logger.error({ err: error }, 'A comparison failed');
        }
        clearTimeout(timeout);
        run.endedAt = now();
      };
      void work();
    },
  };
};

const periods = {
  'running only': null,
  'running, and closed of the last day': 1,
  'running, and closed of the last 7 days': 7,
  'running, and closed of the last 30 days': 30,
} as const;
const periodNames = Object.keys(periods) as (keyof typeof periods)[]; // Object.keys widens to string.

const resultOf = ({ found, heal, problem }: Run, { cells }: PersonRequest): Html => {
  const differences = found?.differences ?? [];
  const missing = differences.filter(({ healed }) => !healed).length;
  return html`${problem === undefined ? '' : notice('bad', problem)}
    ${
      problem === undefined && differences.length === 0
        ? notice('good', 'Postgres and Temporal agree.')
        : ''
    }
    ${
      found && !found.complete && problem === undefined
        ? notice('info', 'There may be more differences: the comparison reached one of its limits.')
        : ''
    }
    ${
      differences.length > shownMax
        ? html`<p>The first ${shownMax} of ${differences.length}.</p>`
        : ''
    }
    ${cells.table({
      caption: 'Differences',
      rows: differences.slice(0, shownMax).map((each) => ({
        Difference: labelOf('workflowDifference', each.kind),
        Payment:
          each.kind === 'workflow_without_payment'
            ? html`<span class="id">${each.paymentId}</span>`
            : idLink(`/payments/${each.paymentId}`, each.paymentId),
        Application: each.application,
        Order: each.orderId,
        Status: labelOf('status', each.status),
        Due: each.at,
        Workflow: each.healed ? 'started' : null,
      })),
      ifEmpty: problem === undefined ? 'No difference.' : 'No difference was found until then.',
    })}
    ${
      !heal && missing > 0
        ? html`<p class="soft">
            “Start the missing workflows” repairs payments and deliveries that have no workflow. The runbook says
            what to do with the others.
          </p>`
        : ''
    }`;
};

const runPart = (run: Run, request: PersonRequest): Html => {
  const { cells, session, csrf } = request;
  const isRunning = run.endedAt === null;
  return html`<h2>The last comparison</h2>
    ${cells.facts({
      State: state(isRunning ? 'running' : run.problem === undefined ? 'done' : 'stopped'),
      By: run.by,
      'Missing workflows': run.heal ? 'are started' : 'are only listed',
      'Closed workflows since': run.since,
      Started: run.startedAt,
      Ended: run.endedAt,
    })}
    ${
      isRunning
        ? html`<progress aria-label="Comparing"></progress>
            <div class="actions">
              ${
                session.role === 'viewer'
                  ? ''
                  : html`<form method="post" action="/reconcile/stop">
                      <input type="hidden" name="csrf" value="${csrf}" />
                      <button>Stop</button>
                    </form>`
              }
              ${action('/reconcile', 'Refresh')}
            </div>`
        : resultOf(run, request)
    }`;
};

const beginPart = ({ csrf, session }: PersonRequest): Html =>
  html`<p>
      Compares the payments in Postgres with the workflows in Temporal, as
      <code>npm run admin -- reconcile</code> does. It ends no workflow.
    </p>
    ${
      session.role === 'viewer'
        ? ''
        : html`<form class="filters" method="post">
            <input type="hidden" name="csrf" value="${csrf}" />
            ${select('Workflows without a payment', 'since', {
              choices: periodNames,
              chosen: 'running only',
            })}
            <button class="main">Compare</button>
            ${action('/reconcile/heal', 'Start the missing workflows')}
          </form>`
    }`;

export const createReconcile = (deps: Deps): { routes: Route[]; actions: Action[] } => {
  const job = createJob(deps);

  const current = async (request: PersonRequest): Promise<Live> => {
    const run = job.last();
    const address = run?.endedAt === null ? '/reconcile/state' : null;
    const content = run
      ? runPart(run, request)
      : html`<p class="empty">Nobody has compared since the console was started.</p>`;
    return live(content, { address, seconds: 2 });
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { content } = await current(request);
    return page('Reconcile', html`${beginPart(request)} ${content}`);
  };

  const sinceOf = (form: URLSearchParams): Date | null => {
    const days = periods[oneOf(periodNames)(form.get('since')) ?? 'running only'];
    return days === null ? null : new Date(deps.now().getTime() - days * dayMs);
  };

  /** It changes nothing, so it asks nothing and leaves no record. */
  const compare = async ({
    session,
    operations,
    form,
  }: PersonRequest): Promise<ConsoleResponse> => {
    const { name: by } = session;
    job.start(operations, { by, heal: false, since: sinceOf(form), reason: '' });
    return redirect('/reconcile', 'The comparison has begun.');
  };

  const stop = async (): Promise<ConsoleResponse> => {
    job.last()?.stop();
    return redirect('/reconcile', 'The comparison stops.');
  };

  return {
    routes: [
      { method: 'GET', path: '/reconcile', role: 'viewer', handle: show },
      pollRoute('/reconcile/state', current),
      { method: 'POST', path: '/reconcile', role: 'operator', handle: compare },
      { method: 'POST', path: '/reconcile/stop', role: 'operator', handle: stop },
    ],
    actions: [
      {
        path: '/reconcile/heal',
        role: 'operator',
        confirm: async () => ({
          title: 'Start the missing workflows',
          consequence:
            'The missing workflow of every payment that needs one is started. Each one leaves a record in the audit log.',
          facts: {},
          button: 'Start them',
          done: 'The comparison has begun.',
          back: '/reconcile',
        }),
        execute: async ({ operations, session }, reason) => {
          job.start(operations, { by: session.name, heal: true, since: null, reason });
        },
      },
    ],
  };
};
