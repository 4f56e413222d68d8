import { html } from 'hono/html';
import {
  type AccountDifferenceState,
  describeDifference,
} from '../../../contract/account-difference.ts';
import { moneyOf } from '../../operations/account-month.ts';
import { mendOf } from '../../operations/accounts.ts';
import { NotFound, Refusal } from '../../operations/change.ts';
import { differenceFacts } from '../../operations/facts.ts';
import { labelOf } from '../../operations/labels.ts';
import type { AccountDifference } from '../../../postgres/accounts/days.ts';
import type { Action, Question } from '../actions.ts';
import {
  action,
  type Cell,
  cut,
  escapeControls,
  type Html,
  link,
  marked,
  type Row,
  shortId,
  time,
} from '../html.ts';
import type {
  ConsoleOperations,
  ConsoleResponse,
  Owner,
  PersonRequest,
  Route,
} from '../request.ts';
import { page } from '../request.ts';
import { serviceLinks } from '../thing-page.ts';
import { differenceGuideRoute, guideLink, guideOf } from './difference-guide.ts';

const marks = { open: 'bad', explained: 'off', mended: 'good' } as const;

const differenceState = (state: AccountDifferenceState): Html =>
  marked(marks[state], labelOf('differenceState', state));

/** The money and the time of one side; null if that side has nothing. */
const sideOf = (
  money: string | null,
  at: Date | null,
  { formatTime }: Pick<PersonRequest, 'formatTime'>,
): Cell =>
  money &&
  html`<span class="nowrap">${money}</span>${
    at === null ? '' : html`<br /><span class="soft">${time(at, formatTime)}</span>`
  }`;

/** A payment that is unknown here has an id without a page; its workflow may run all the same. */
const paymentOf = ({ paymentId, refundId, hasPayment, workflowRuns }: AccountDifference): Cell => {
  if (paymentId === null) return null;
  const words = workflowRuns === null ? null : workflowRuns ? 'runs' : 'does not run';
  return html`${
    hasPayment
      ? shortId(`/payments/${paymentId}`, paymentId)
      : html`<span class="id nowrap">${paymentId}</span>`
  }${refundId && html`<br />${shortId(`/refunds/${refundId}`, refundId)}`}${
    words && html`<br /><span class="soft">its workflow ${words}</span>`
  }`;
};

const isMendable = (difference: AccountDifference): boolean =>
  difference.state === 'open' && mendOf(difference) !== null;

/** The buttons for this person. */
const actionsOf = (
  difference: AccountDifference,
  { role }: PersonRequest['session'],
): Html | null => {
  const at = `/accounts/differences/${difference.id}`;
  const buttons = [
    role !== 'viewer' && isMendable(difference) && action(`${at}/mend`, 'Mend'),
    role === 'admin' && difference.state === 'open' && action(`${at}/explain`, 'Explain'),
    role === 'admin' && difference.state === 'explained' && action(`${at}/reopen`, 'Reopen'),
  ].filter((button) => button !== false);
  return buttons.length === 0 ? null : html`<div class="buttons">${buttons}</div>`;
};

/** The movement or the gateway's entry, unless the payment or the refund says it already. */
const subjectOf = ({ subject, paymentId, refundId }: AccountDifference): Html =>
  [paymentId, refundId].some((id) => id !== null && subject.includes(id))
    ? html``
    : html`<br /><span class="soft">${cut(subject)}</span>`;

const factsOf = (difference: AccountDifference, request: PersonRequest): Row => {
  const facts = differenceFacts(difference);
  return {
    Difference: html`${link(`/accounts/differences/${difference.id}`, facts.difference.value)}${subjectOf(difference)}`,
    Ours: sideOf(facts.ours.value, facts.ourTime.value, request),
    Theirs: sideOf(facts.theirs.value, facts.theirTime.value, request),
    Payment: paymentOf(difference),
  };
};

/** Differences in a table. The open ones of several days say of which day each is, and not that it is open. */
export const differenceTable = (
  request: PersonRequest,
  differences: readonly AccountDifference[],
  { ifEmpty, dayOf }: { ifEmpty: string; dayOf?: (difference: AccountDifference) => Html },
): Html => {
  const hasReasons = differences.some(({ reason }) => reason !== null);
  return request.cells.table({
    caption: 'Differences',
    rows: differences.map((difference) => ({
      ...(dayOf && { Day: dayOf(difference) }),
      ...factsOf(difference, request),
      ...(!dayOf && { State: differenceState(difference.state) }),
      ...(hasReasons && { Reason: difference.reason }),
      Action: actionsOf(difference, request.session),
    })),
    ifEmpty,
  });
};

const find = async (
  params: PersonRequest['params'],
  { accounts }: Pick<ConsoleOperations, 'accounts'>,
): Promise<AccountDifference> => {
  const { number } = params;
  if (!/^\d{1,15}$/.test(number)) throw new NotFound('There is no such difference.');
  return accounts.getDifference(Number(number));
};

const ofDifference: Owner = async ({ params, operations }) => {
  try {
    return (await find(params, operations)).application ?? undefined;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
};

interface DifferenceAction {
  path: 'explain' | 'reopen' | 'mend';
  role: Action['role'];
  owner?: Owner;
  /** @throws Refusal if its state does not allow it */
  describe: (difference: AccountDifference) => Omit<Question, 'back' | 'facts'>;
  execute: (accounts: ConsoleOperations['accounts'], id: number, reason: string) => Promise<void>;
}

/** A change of one difference. It leads back to the page of its day. */
const differenceAction = ({ path, describe, execute, ...access }: DifferenceAction): Action => ({
  ...access,
  path: `/accounts/differences/:number/${path}`,
  confirm: async (request) => {
    const difference = await find(request.params, request.operations);
    return {
      ...describe(difference),
      back: pathOfDay(difference, request.session),
      facts: {
        Gateway: difference.gateway,
        Day: difference.day,
        ...factsOf(difference, request),
        State: differenceState(difference.state),
        Reason: difference.reason,
      },
    };
  },
  execute: async ({ params, operations }, reason) => {
    const { id } = await find(params, operations);
    await execute(operations.accounts, id, reason);
  },
});

/** The page of its day, of the application for people who see that alone. */
const pathOfDay = (
  { gateway, day, application }: AccountDifference,
  { applications }: PersonRequest['session'],
): string =>
  `/accounts/${gateway}/${day}${applications === null ? '' : `?application=${application}`}`;

/** The two sides beside one another. */
const sidesOf = (difference: AccountDifference, { cells }: PersonRequest): Html => {
  const { ours, theirs, ourTime, theirTime } = differenceFacts(difference);
  const { ourAmount, ourCurrency, theirAmount, theirCurrency } = difference;
  const isOfBoth = ourAmount !== null && theirAmount !== null && ourCurrency === theirCurrency;
  const row = (name: string, here: Cell, there: Cell): Row => ({
    Fact: name,
    Here: here,
    'At the gateway': there,
  });
  return cells.table({
    caption: 'The two sides',
    rows: [
      row('Amount', ours.value ?? 'nothing', theirs.value ?? 'nothing'),
      ...(isOfBoth && ourAmount !== theirAmount
        ? [row('More there', null, moneyOf(theirAmount - ourAmount, ourCurrency))]
        : []),
      row('Time', ourTime.value, theirTime.value),
    ],
    ifEmpty: '',
  });
};

const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { params, operations, session, cells } = request;
  const difference = await find(params, operations);
  const { id, kind, state, gateway, day, reason, subject, foundAt } = difference;
  return page(
    `Difference ${id}: ${describeDifference(difference)}`,
    html`<p class="links">
        ${link(pathOfDay(difference, session), `${gateway} on ${day}`)}
        ${link('/accounts#differences', 'Open differences')}
      </p>
      ${cells.facts({
        State: differenceState(state),
        Reason: reason,
        Payment: paymentOf(difference),
        About: html`<code>${escapeControls(subject)}</code>`,
        Found: foundAt,
        'Mend does': state === 'open' ? mendOf(difference) : null,
      })}
      ${sidesOf(difference, request)}
      <div class="actions">${actionsOf(difference, session)}</div>
      <h2>What it means, and what to do</h2>
      ${guideOf(kind)}
      <p class="links">${guideLink(kind, 'All kinds of differences')}</p>
      ${serviceLinks(`account_difference:${id}`, null, request)}`,
  );
};

export const accountDifferenceRoutes: readonly Route[] = [
  differenceGuideRoute,
  {
    method: 'GET',
    path: '/accounts/differences/:number',
    role: 'viewer',
    owner: ofDifference,
    handle: show,
  },
];

export const accountDifferenceActions: readonly Action[] = [
  differenceAction({
    path: 'explain',
    role: 'admin',
    describe: ({ id, state }) => {
      if (state !== 'open') throw new Refusal(`The difference ${id} is ${state}.`);
      return {
        title: 'Explain the difference',
        consequence:
          'Nothing is left to do about it: it no longer counts as open, and your reason stands beside it. It can be opened again.',
        button: 'Explain it',
        done: 'The difference is explained.',
      };
    },
    execute: (accounts, id, reason) => accounts.explain(id, reason),
  }),
  differenceAction({
    path: 'reopen',
    role: 'admin',
    describe: ({ id, state }) => {
      if (state !== 'explained') throw new Refusal(`The difference ${id} is ${state}.`);
      return {
        title: 'Open the difference again',
        consequence: 'The explanation was wrong: it counts as open again.',
        button: 'Open it again',
        done: 'The difference is open again.',
      };
    },
    execute: (accounts, id, reason) => accounts.reopen(id, reason),
  }),
  differenceAction({
    path: 'mend',
    role: 'operator',
    owner: ofDifference,
    describe: (difference) => {
      const mend = mendOf(difference);
      if (mend === null || !isMendable(difference))
        throw new Refusal('No routine can mend it: find out why, and explain it.');
      return {
        title: 'Mend the difference',
        consequence: `A workflow will ${mend}. The next comparison of the day finds out whether the difference is mended.`,
        button: 'Mend it',
        done: 'It has begun. Compare the day again to see whether the difference is mended.',
      };
    },
    execute: (accounts, id, reason) => accounts.mend(id, reason),
  }),
];
