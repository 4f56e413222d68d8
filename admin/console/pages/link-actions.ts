import { html } from 'hono/html';
import { languages } from '../../../contract/languages.ts';
import { linkExpiresIn } from '../../../contract/links/link.ts';
import { formatMoney, parseMoney } from '../../../contract/money.ts';
import { dayMs } from '../../../contract/time.ts';
import { parseWholeNumber } from '../../../contract/whole-number.ts';
import { Refusal } from '../../operations/change.ts';
import { linkOverRuleText } from '../../operations/link-facts.ts';
import type { AdminLink } from '../../operations/links.ts';
import type { Action } from '../actions.ts';
import { select } from '../filters.ts';
import { modeName } from '../mode.ts';
import { moneyField } from '../money.ts';
import { visibleApplications } from '../owner.ts';
import { type PersonRequest, redirect } from '../request.ts';
import { text, typedOr } from './application-action.ts';
import { linkCells } from './links.ts';

const daySeconds = dayMs / 1000;
const daysMax = linkExpiresIn.max / daySeconds;

/** The typed link. @throws Refusal */
const typedLink = (request: PersonRequest): AdminLink => {
  const money = parseMoney(text(request, 'amount'));
  if ('problem' in money) throw new Refusal(`${money.problem} Write it with its currency.`);
  const days = parseWholeNumber(text(request, 'days'), { min: 1, max: daysMax });
  if (days === undefined)
    throw new Refusal(`The days must be a whole number from 1 to ${daysMax}.`);
  return {
    application: text(request, 'application'),
    test: text(request, 'mode') === 'test',
    orderId: text(request, 'order'),
    ...money,
    description: text(request, 'text') || null,
    locale: text(request, 'language') || null,
    expiresIn: days * daySeconds,
  };
};

/** Says before the link is made that another admin will have to confirm it. A later step says what is wrong in the form. */
const warningOf = async (request: PersonRequest): Promise<string | null> => {
  const money = parseMoney(text(request, 'amount'));
  if ('problem' in money) return null;
  const { currency } = money;
  const test = text(request, 'mode') === 'test';
  const overRule = await request.operations.links.overRule({ ...money, test });
  return overRule ? linkOverRuleText(overRule, currency) : null;
};

const makeLink: Action = {
  path: '/create-link',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => ({
    title: 'Make a link',
    consequence:
      'Whoever has its address can pay the order, once. The payer sees the name of the application, the amount and the text. None of it can be changed: disable the link and make another one.',
    button: 'Make the link',
    facts: {},
    warning: await warningOf(request),
    done: 'The link was made.',
    back: '/links',
    fields: html`${select('Application', 'application', {
      choices: await visibleApplications(request),
      chosen: typedOr(request, 'application', request.query.get('application') ?? ''),
    })}
      ${select('Mode', 'mode', {
        choices: ['live', 'test'],
        chosen: typedOr(request, 'mode', modeName(request.test)),
        of: 'mode',
      })}
      <label>
        Order
        <input name="order" maxlength="100" value="${text(request, 'order')}" autocomplete="off" spellcheck="false" required />
      </label>
      ${moneyField('Amount with its currency, like 84.00 EUR', { name: 'amount', currency: null, typed: text(request, 'amount') })}
      <label>
        Text for the payer
        <input name="text" maxlength="255" value="${text(request, 'text')}" placeholder="Invoice 2026-117" dir="auto" />
      </label>
      ${select('Language of the page', 'language', {
        choices: languages,
        chosen: text(request, 'language'),
        any: 'that of the application',
      })}
      <label>
        Days until nobody can begin to pay it
        <input type="number" name="days" min="1" max="${daysMax}" value="${typedOr(request, 'days', String(linkExpiresIn.default / daySeconds))}" required />
      </label>`,
  }),
  execute: async (request, reason) => {
    const { link } = await request.operations.links.create(typedLink(request), reason);
    return redirect(
      `/links/${link.id}`,
      link.toConfirm
        ? 'You have asked for the link. Another admin confirms it.'
        : 'The link was made. Copy its address for the payer.',
    );
  },
};

const openDetails = async ({ operations, params }: PersonRequest) => {
  const details = await operations.links.details(params.id);
  if (details.link.status !== 'open') throw new Refusal(`The link is ${details.link.status}.`);
  return details;
};

const disable: Action = {
  path: '/links/:id/disable',
  role: 'admin',
  confirm: async (request) => ({
    title: 'Disable the link',
    consequence:
      'Nobody can begin to pay it any more, for ever. A payment that has begun goes on, and may still pay it.',
    button: 'Disable the link',
    isDangerous: true,
    facts: linkCells(await openDetails(request)),
    done: 'The link is disabled.',
    back: `/links/${request.params.id}`,
  }),
  execute: ({ operations, params: { id } }, reason) => operations.links.disable(id, reason),
};

const confirm: Action = {
  path: '/links/:id/confirm',
  role: 'admin',
  isSensitive: true,
  confirm: async (request) => {
    const details = await openDetails(request);
    const { link } = details;
    if (!link.toConfirm) throw new Refusal('The link does not wait for a second admin.');
    return {
      title: 'Confirm the link',
      consequence: `Whoever has its address can pay ${formatMoney(link)}, once.`,
      button: 'Confirm the link',
      facts: linkCells(details),
      done: 'The link was confirmed.',
      back: `/links/${link.id}`,
    };
  },
  execute: ({ operations, params: { id } }, reason) => operations.links.confirm(id, reason),
};

export const linkActions: readonly Action[] = [makeLink, disable, confirm];
