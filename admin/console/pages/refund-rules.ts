import { html } from 'hono/html';
import {
  currencyExponents,
  formatMoney,
  parseMoneyOf,
  typedMoney,
} from '../../../contract/money.ts';
import { Refusal, unlessRefused } from '../../operations/change.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import { byLabel, fact } from '../../operations/fact.ts';
import { tokenFacts, tokenWaits } from '../../operations/facts.ts';
import type { RefundRule, RefundRuleRequest } from '../../../postgres/refunds/rules.ts';
import type { Action, Question } from '../actions.ts';
import { action, type Html, link, type Row } from '../html.ts';
import { modeName } from '../mode.ts';
import { moneyField } from '../money.ts';
import type { Query } from '../query.ts';
import type { ConsoleResponse, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { applicationAction, pathOf, typedOr } from './application-action.ts';

const waitingMax = 50;

const rulesPath = '/refunds/rules';

const amountOf = (amount: number | null, currency: string, none: string): string =>
  amount === null ? none : formatMoney({ amount, currency });

/** The sum that an application may give back in a day. */
export const limitsText = (limits: readonly { currency: string; perDay: number }[]): string =>
  limits.length === 0
    ? 'no limit'
    : `up to ${limits.map(({ currency, perDay }) => formatMoney({ amount: perDay, currency })).join(' and ')}, nothing in other currencies`;

const waits = 'It is looser than what holds now, so another admin confirms it first.';

const readCurrency = (query: Query): string | null =>
  query.read('currency', (text) => (currencyExponents.has(text) ? text : null));

const currencyIn = (request: PersonRequest): string =>
  typedOr(request, 'currency', readCurrency(request.query) ?? '').toUpperCase();

/** The rule that was typed. An empty amount removes it. @throws Refusal */
const ruleIn = (request: PersonRequest, application: string | null): RefundRule => {
  const currency = currencyIn(request);
  const typed = typedOr(request, 'amount', '');
  if (!currencyExponents.has(currency)) throw new Refusal(`There is no currency ${currency}.`);
  if (typed === '') return { application, currency, amount: null };
  const money = parseMoneyOf(currency, typed);
  if ('problem' in money) throw new Refusal(money.problem);
  return { application, currency, amount: money.amount };
};

const warningOf = (request: PersonRequest, slug: string): Promise<string | null> =>
  unlessRefused(() =>
    request.operations.consequences.ofRefundLimit({ ...ruleIn(request, slug), application: slug }),
  );

const ruleFields = (
  request: PersonRequest,
  { label, amount }: { label: string; amount: number | null },
): Html => {
  const currency = currencyIn(request);
  const now = amount === null ? '' : typedMoney({ amount, currency });
  return html`<label>
      Currency
      <input name="currency" maxlength="3" size="4" pattern="[A-Za-z]{3}" value="${currency}" autocomplete="off" spellcheck="false" required />
    </label>
    ${moneyField(label, { name: 'amount', currency: null, typed: typedOr(request, 'amount', now) })}`;
};

const ask = async (
  request: PersonRequest,
  rule: RefundRule,
  { reason, back }: { reason: string; back: string },
): Promise<ConsoleResponse> => {
  const result = await request.operations.refunds.askRule(rule, reason);
  return redirect(
    result === 'asked' ? rulesPath : back,
    result === 'asked' ? `The rule waits. ${waits}` : 'The rule was changed.',
  );
};

const changeApproval: Action = {
  path: `${rulesPath}/change`,
  role: 'admin',
  isSensitive: true,
  confirm: async (request): Promise<Question> => {
    const { approvals } = await request.operations.refunds.rules();
    const known = approvals.find(({ currency }) => currency === currencyIn(request));
    return {
      title: 'The amount for the second admin',
      consequence: `Above this amount another admin confirms what an admin gives back; so does a new token with the scope refund, while there is any rule. A stricter rule holds at once. A looser one, or none, waits for another admin.`,
      button: 'Change',
      facts: Object.fromEntries(
        approvals.map(({ currency, above }) => [
          `Now, ${currency}`,
          `above ${formatMoney({ amount: above, currency })}`,
        ]),
      ),
      done: 'The rule was changed.',
      back: rulesPath,
      fields: ruleFields(request, {
        label: 'Another admin confirms above; empty: never',
        amount: known?.above ?? null,
      }),
    };
  },
  execute: (request, reason) => ask(request, ruleIn(request, null), { reason, back: rulesPath }),
};

const changeLimit = applicationAction({
  path: 'refund-limit',
  role: 'admin',
  isSensitive: true,
  describe: async (slug, request) => {
    const limits = await request.operations.refunds.limitsOf(slug);
    const known = limits.find(({ currency }) => currency === currencyIn(request));
    return {
      title: `What ${slug} may refund in a day`,
      consequence:
        'The limit is for a day of UTC, in each mode. In currencies without a limit it refunds nothing, once it has one. While a second admin confirms refunds, a looser limit waits for another admin, too.',
      button: 'Change',
      warning: request.form.has('amount') ? await warningOf(request, slug) : null,
      done: `The limit of ${slug} was changed.`,
      facts: { 'Refunds in a day': limitsText(limits) },
      fields: ruleFields(request, {
        label: 'Up to; empty: no limit',
        amount: known?.perDay ?? null,
      }),
    };
  },
  execute: (slug, request, reason) =>
    ask(request, ruleIn(request, slug), { reason, back: pathOf(slug) }),
});

/** `EUR`, or `shop.EUR` for the limit of an application. */
const idOf = ({ application, currency }: RefundRule): string =>
  application === null ? currency : `${application}.${currency}`;

const requestOf = async ({ operations, params }: PersonRequest): Promise<RefundRuleRequest> => {
  const [currency = '', application = null] = params.rule.split('.').toReversed();
  return operations.refunds.ruleRequest({ application, currency });
};

const nameOf = ({ application, currency }: RefundRule): string =>
  application === null
    ? `another admin confirms refunds in ${currency} above`
    : `${application} refunds in a day, in ${currency}, up to`;

const requestFacts = async (
  request: RefundRuleRequest,
  { operations }: Pick<PersonRequest, 'operations'>,
) => {
  const { application, currency, amount, askedBy, askedAt } = request;
  const limits =
    application === null
      ? (await operations.refunds.rules()).approvals.map(({ above, ...rest }) => ({
          ...rest,
          perDay: above,
        }))
      : await operations.refunds.limitsOf(application);
  const now = limits.find((limit) => limit.currency === currency)?.perDay ?? null;
  return {
    rule: fact('Rule', nameOf(request)),
    application: fact('Application', application && link(pathOf(application), application)),
    now: fact('Now', amountOf(now, currency, 'no rule')),
    wanted: fact('Wanted', amountOf(amount, currency, 'no rule')),
    askedBy: fact('Asked by', askedBy),
    asked: fact('Asked', askedAt),
  };
};

const confirmRule: Action = {
  path: `${rulesPath}/:rule/confirm`,
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const wanted = await requestOf(request);
    if (isSamePerson(wanted.askedBy, request.session.name))
      throw new Refusal('You have asked for this rule yourself. Another admin must confirm it.');
    return {
      title: 'Confirm a looser rule for refunds',
      consequence: 'It holds at once.',
      button: 'Confirm',
      facts: byLabel(await requestFacts(wanted, request)),
      done: 'The rule was changed.',
      back: rulesPath,
      // The admin confirms the amount that this page shows.
      fields: html`<input type="hidden" name="seen" value="${wanted.amount ?? 'none'}" />`,
    };
  },
  execute: async (request, reason) => {
    const wanted = await requestOf(request);
    if (request.form.get('seen') !== String(wanted.amount ?? 'none'))
      throw new Refusal('Somebody has just asked for another amount. Look at it again.');
    await request.operations.refunds.confirmRule(wanted, reason);
  },
};

const refuseRule: Action = {
  path: `${rulesPath}/:rule/refuse`,
  role: 'admin',
  confirm: async (request) => ({
    title: 'Refuse a looser rule for refunds',
    consequence: 'The rule stays as it is.',
    button: 'Refuse',
    facts: byLabel(await requestFacts(await requestOf(request), request)),
    done: 'The rule stays as it is.',
    back: rulesPath,
  }),
  execute: async (request, reason) =>
    request.operations.refunds.refuseRule(await requestOf(request), reason),
};

const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { operations, session, cells, test } = request;
  const mode = modeName(test);
  const [{ approvals, requests }, tokens] = await Promise.all([
    operations.refunds.rules(),
    operations.tokens.listToConfirm(mode, waitingMax),
  ]);
  const isAdmin = session.role === 'admin';
  const change = (currency: string): Html =>
    action(`${rulesPath}/change?currency=${currency}`, 'Change');
  const decide = (rule: RefundRuleRequest): Html => {
    const at = `${rulesPath}/${idOf(rule)}`;
    return html`<div class="buttons">
      ${isSamePerson(rule.askedBy, session.name) ? '' : action(`${at}/confirm`, 'Confirm')}
      ${action(`${at}/refuse`, 'Refuse')}
    </div>`;
  };
  const tokenRow = ({ application, ...token }: (typeof tokens)[number]): Row => {
    const { scopes, issuedBy, issued } = tokenFacts(token);
    const at = `${pathOf(application)}/tokens/${token.id}`;
    const isOwn = token.issuedBy !== null && isSamePerson(token.issuedBy, session.name);
    return {
      Token: token.name,
      Application: link(pathOf(application), application),
      ...byLabel({ scopes, issuedBy, issued }),
      Action: isAdmin
        ? html`<div class="buttons">
            ${isOwn ? '' : action(`${at}/confirm`, 'Confirm')} ${action(`${at}/revoke`, 'Revoke')}
          </div>`
        : null,
    };
  };
  return page(
    'Rules for refunds',
    html`<p>
        Above an amount, another admin confirms what an admin gives back. Three sums count, each with the new refund:
        the refund, what admins have asked for of the payment, and what the admin has asked for in this currency
        within 24 hours. What an application may give back in a day is on its own page.
      </p>
      ${cells.table({
        caption: 'Amounts above which a second admin confirms',
        rows: approvals.map(({ currency, above }) => ({
          Currency: currency,
          'Confirmed above': formatMoney({ amount: above, currency }),
          Action: isAdmin ? change(currency) : null,
        })),
        ifEmpty: 'No refund needs a second admin.',
      })}
      ${isAdmin ? html`<div class="actions">${action(`${rulesPath}/change`, 'Set the amount for a currency')}</div>` : ''}
      <h2 id="rules">Waiting for another admin</h2>
      <p>Another admin confirms these rules, because they are looser than what holds now. They are of both modes.</p>
      ${cells.table({
        caption: 'Rules that wait for another admin',
        rows: await Promise.all(
          requests.map(async (rule) => {
            const { application: _, ...facts } = await requestFacts(rule, request);
            return { ...byLabel(facts), Action: isAdmin ? decide(rule) : null };
          }),
        ),
        ifEmpty: 'No rule waits.',
      })}
      <h2 id="tokens">Tokens that wait</h2>
      <p>
        Nobody can use these ${mode} tokens before another admin confirms them. ${tokenWaits}
      </p>
      ${cells.table({
        caption: 'Tokens that wait for another admin',
        rows: tokens.map(tokenRow),
        ifEmpty: `No ${mode} token waits.`,
      })}
      ${tokens.length === waitingMax ? html`<p class="soft">These are the first ${waitingMax}.</p>` : ''}`,
  );
};

/** Registered before the page of a refund, whose path matches it. */
export const refundRuleRoutes: readonly Route[] = [
  { method: 'GET', path: rulesPath, role: 'viewer', handle: show },
];

export const refundRuleActions: readonly Action[] = [
  changeApproval,
  changeLimit,
  confirmRule,
  refuseRule,
];
