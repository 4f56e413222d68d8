import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import { refundableAmount } from '../../../contract/payment-fields.ts';
import { refundStages, refundStatuses } from '../../../contract/refund.ts';
import { Refusal } from '../../operations/change.ts';
import { refundFacts, waitsOf } from '../../operations/facts.ts';
import type { RefundRecord } from '../../../postgres/admin-refunds.ts';
import { everyRefund, type RefundFilter } from '../../../postgres/refund-filter.ts';
import type { Action, Question } from '../actions.ts';
import {
  choose,
  pageLinks,
  pageOf,
  pageSize,
  positionOf,
  readFilter,
  readPosition,
  select,
} from '../filters.ts';
import type { Html, Row } from '../html.ts';
import { action, escapeControls, idLink, link, notice, nowrap, state } from '../html.ts';
import { ofPayment, visibleApplications } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';
import { saveView } from './views.ts';

/** Beside the stages: those that wait for a second admin. */
const secondAdmin = 'to_confirm';

const stateOf = (refund: RefundRecord): Html => {
  const waits = waitsOf(refund);
  return html`${state(refund.status)}${waits && html` <span class="soft">${waits}</span>`}`;
};

/** The admin, or the token of the application. */
const askerOf = ({ askedBy, token, requestedBy }: RefundRecord): Html => {
  if (askedBy !== null) return html`<bdi>${escapeControls(askedBy)}</bdi>`;
  return token === null ? nowrap(requestedBy) : html`token <code class="id">${token}</code>`;
};

/** The actions of a person on a refund. */
const actionsOf = (
  { id, status, stage, toConfirm, isHeld, cancelRequested }: RefundRecord,
  { session }: PersonRequest,
): Html => {
  if (session.role !== 'admin' || cancelRequested) return html``;
  if (toConfirm && status === 'pending')
    return html`${action(`/refunds/${id}/confirm`, 'Confirm')}
    ${action(`/refunds/${id}/refuse`, 'Refuse')}`;
  if (stage === 'reserved')
    return html`${action(`/refunds/${id}/cancel`, 'Call off')}
    ${isHeld ? action(`/refunds/${id}/release`, 'Let it go on') : ''}`;
  if (stage !== 'by_hand') return html``;
  return html`${action(`/refunds/${id}/succeeded`, 'It was given back')}
  ${action(`/refunds/${id}/failed`, 'It was not')}`;
};

const rowOf = (refund: RefundRecord, request: PersonRequest): Row => {
  const facts = refundFacts(refund);
  return {
    Refund: html`<code class="id">${refund.id}</code>`,
    Created: facts.Created,
    Status: stateOf(refund),
    Amount: html`<span class="amount">${facts.Amount}</span>`,
    'Asked by': askerOf(refund),
    'Failure code': facts['Failure code'],
    'At the gateway': facts['At the gateway'],
    Decision: actionsOf(refund, request),
  };
};

/** The refunds of one payment, on its page. */
export const refundsOfPayment = async (
  paymentId: string,
  request: PersonRequest,
): Promise<Html | undefined> => {
  const found = await request.operations.refunds.list(
    { ...everyRefund, paymentId },
    { after: null, limit: pageSize },
  );
  if (found.length === 0) return undefined;
  return request.cells.table({
    caption: 'Refunds',
    rows: found.map((refund) => rowOf(refund, request)),
    ifEmpty: '',
  });
};

export const refundRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells, operations } = request;
    const shared = readFilter(request, deps.now());
    const status = choose(query, 'status', refundStatuses);
    const waits = choose(query, 'stage', [...refundStages, secondAdmin]);
    const toConfirm = waits === secondAdmin || null;
    const stage = waits === secondAdmin ? null : waits;
    const filter: RefundFilter = {
      ...shared,
      paymentId: null,
      orderId: null,
      status,
      stage,
      toConfirm,
    };
    const [found, applications] = await Promise.all([
      operations.refunds.list(filter, { after: readPosition(query), limit: pageSize + 1 }),
      visibleApplications(request),
    ]);
    const { rows, last } = pageOf(found);
    return page(
      'Refunds',
      html`<form class="filters" method="get">
          ${select('Status', 'status', { choices: refundStatuses, chosen: status, any: 'all' })}
          ${select('Stage', 'stage', { choices: [...refundStages, secondAdmin], chosen: waits, any: 'all' })}
          ${select('Application', 'application', {
            choices: applications,
            chosen: shared.application,
            any: 'all',
          })}
          <button>Filter</button>
        </form>
        ${saveView('/refunds', request)}
        ${
          stage === 'by_hand' && rows.length > 0
            ? notice(
                'bad',
                'Nobody can know what became of these. Look into the books of the gateway, then decide.',
              )
            : ''
        }
        ${cells.table({
          caption: 'Refunds',
          rows: rows.map((refund) => ({
            Payment: idLink(`/payments/${refund.paymentId}`, refund.paymentId),
            Application: link(`/applications/${refund.application}`, refund.application),
            Order: refund.orderId,
            ...rowOf(refund, request),
          })),
          ifEmpty: 'No refund matches this filter.',
        })}
        ${pageLinks('/refunds', query, last ? positionOf({ at: last.createdAt, id: last.id }) : null)}`,
    );
  };
  return [{ method: 'GET', path: '/refunds', role: 'viewer', owner: 'list', handle: list }];
};

const settle = (as: 'succeeded' | 'failed', question: Omit<Question, 'back'>): Action => ({
  path: `/refunds/:id/${as}`,
  role: 'admin',
  isSensitive: true,
  confirm: async () => ({ ...question, back: '/refunds?stage=by_hand' }),
  execute: async ({ operations, params }, reason) => {
    await operations.refunds.settle(params.id, as, reason);
  },
});

/** An amount in minor units; empty: null. Anything else than digits is none. */
const amountIn = (text: string): number | null | undefined => {
  if (text === '') return null;
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
};

export const refundActions: readonly Action[] = [
  {
    path: '/payments/:id/refund',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { id }, operations, form }) => {
      const { payment } = await operations.payments.get(id);
      const left = refundableAmount({ ...payment, refundableUntil: null }, new Date());
      return {
        title: 'Give money back',
        consequence: `The payer of ${id} paid ${formatMoney(payment)}, and ${formatMoney({ ...payment, amount: left })} of it is left. What you give back cannot be called back once the gateway was told.`,
        button: 'Give back',
        done: 'The refund was recorded.',
        back: `/payments/${id}`,
        fields: html`<label>
            Amount in minor units of ${payment.currency}; empty: everything that is left
            <input name="amount" inputmode="numeric" maxlength="12" pattern="[0-9]*" value="${form.get('amount') ?? ''}" autocomplete="off" />
          </label>
          <label class="choice">
            <input type="checkbox" name="recorded" value="yes" ${form.get('recorded') === 'yes' ? html`checked` : ''} />
            It was given back already, outside of the gateway
          </label>`,
      };
    },
    execute: async ({ operations, params: { id }, form }, reason) => {
      const amount = amountIn(form.get('amount')?.trim() ?? '');
      if (amount === undefined) throw new Refusal('The amount is not a whole number.');
      const recorded = form.get('recorded') === 'yes';
      await operations.refunds.create(id, { amount, recorded, reason });
    },
  },
  {
    path: '/payments/:id/cancel',
    role: 'operator',
    owner: ofPayment,
    confirm: async ({ params: { id } }) => ({
      title: 'Cancel the payment',
      consequence:
        'Unless it is paid, or its money is on its way, it ends as cancelled and the application is told. Money that still comes goes back.',
      button: 'Cancel the payment',
      isDangerous: true,
      done: 'The payment was cancelled.',
      back: `/payments/${id}`,
    }),
    execute: async ({ operations, params: { id } }, reason) => {
      const { status, isAnswered } = await operations.payments.cancel(id, reason);
      if (!isAnswered) throw new Refusal('The gateway gave no answer, and nothing has changed.');
      if (status !== 'cancelled') throw new Refusal(`It cannot be cancelled: it is ${status}.`);
    },
  },
  {
    path: '/refunds/:id/confirm',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { id } }) => ({
      title: 'Confirm the refund',
      consequence: `Another admin has asked for ${id}. Its money goes back.`,
      button: 'Confirm',
      done: 'The refund was confirmed.',
      back: '/refunds',
    }),
    execute: async ({ operations, params: { id } }, reason) => {
      await operations.refunds.confirm(id, reason);
    },
  },
  {
    path: '/refunds/:id/refuse',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { id } }) => ({
      title: 'Refuse the refund',
      consequence: `${id} ends as failed. Its gateway was told nothing, and its amount can be refunded again.`,
      button: 'Refuse',
      done: 'The refund was refused.',
      back: '/refunds',
    }),
    execute: async ({ operations, params: { id } }, reason) => {
      await operations.refunds.refuse(id, reason);
    },
  },
  {
    path: '/refunds/:id/cancel',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { id }, operations }) => {
      const refund = await operations.refunds.get(id);
      return {
        title: 'Call the refund off',
        consequence: `${id} gives ${formatMoney(refund)} back. Unless the gateway was told meanwhile, it ends as failed, and its amount can be refunded again.`,
        button: 'Call off',
        isDangerous: true,
        done: 'The refund was called off.',
        back: `/payments/${refund.paymentId}`,
      };
    },
    execute: async ({ operations, params: { id } }, reason) => {
      await operations.refunds.cancel(id, reason);
    },
  },
  {
    path: '/refunds/:id/release',
    role: 'admin',
    isSensitive: true,
    confirm: async ({ params: { id }, operations }) => {
      const refund = await operations.refunds.get(id);
      return {
        title: 'Let the refund go on',
        consequence: `${refund.application} is disabled, so ${id} waits. The gateway is told now, and ${formatMoney(refund)} goes back.`,
        button: 'Let it go on',
        isDangerous: true,
        done: 'The refund goes on.',
        back: `/payments/${refund.paymentId}`,
      };
    },
    execute: async ({ operations, params: { id } }, reason) => {
      await operations.refunds.release(id, reason);
    },
  },
  settle('succeeded', {
    title: 'The money was given back',
    consequence: 'The refund ends as succeeded, and the application is told.',
    button: 'It was given back',
    done: 'The refund ends as succeeded.',
  }),
  settle('failed', {
    title: 'The money was not given back',
    consequence:
      'The refund ends as failed, and its amount can be refunded again. If the gateway has given it back after all, it could go back twice.',
    button: 'It was not',
    isDangerous: true,
    done: 'The refund ends as failed.',
  }),
];
