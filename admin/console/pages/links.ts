import { html } from 'hono/html';
import { languages } from '../../../contract/languages.ts';
import { linkExpiresIn, linkStatuses } from '../../../contract/links/link.ts';
import { formatMoney, parseMoney } from '../../../contract/money.ts';
import { dayMs } from '../../../contract/time.ts';
import { parseWholeNumber } from '../../../contract/whole-number.ts';
import type { OrderKey } from '../../../postgres/admin/orders.ts';
import { everyLink, type LinkFilter, type LinkRecord } from '../../../postgres/admin/links.ts';
import { Refusal, unlessRefused } from '../../operations/change.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import { byLabel } from '../../operations/fact.ts';
import { secondAdmin } from '../../operations/links/labels.ts';
import {
  type AdminLink,
  type LinkDetails,
  linkFacts,
  linkOverRuleText,
  linkState,
} from '../../operations/links/links.ts';
import type { Action } from '../actions.ts';
import { choiceOf } from '../filter-bar.ts';
import { readFilter, select } from '../filters.ts';
import {
  action,
  codedState,
  copyable,
  type Html,
  idLink,
  link,
  notice,
  type Row,
  shortId,
} from '../html.ts';
import { findPage, firstPage, listPage, listRoutes, partOf } from '../list-page.ts';
import { modeName } from '../mode.ts';
import { moneyField } from '../money.ts';
import { ofLink, visibleApplications } from '../owner.ts';
import {
  type ConsoleResponse,
  type Deps,
  type PersonRequest,
  redirect,
  type Route,
} from '../request.ts';
import { applicationOf, headOf, orderLink, serviceLinks, thingPage } from '../thing-page.ts';
import { text, typedOr } from './application-action.ts';
import { eventsOfPayment } from './deliveries.ts';
import { paymentTable } from './payments.ts';

const states = [...linkStatuses, secondAdmin] as const;

const stateOf = (found: LinkRecord): Html => codedState('linkStatus', linkState(found));

/** Cells that tell links of one order apart. The page of each has the rest. */
const ownCells = (found: LinkRecord): Row => ({
  Link: shortId(`/links/${found.id}`, found.id),
  Amount: html`<span class="amount">${formatMoney(found)}</span>`,
  Status: stateOf(found),
});

const otherCells = ({ expiresAt, createdAt }: LinkRecord): Row => ({
  Until: expiresAt,
  Created: createdAt,
});

/** The newest links of an order, on its page. */
export const linksOfOrder = async (
  { application, test, orderId }: OrderKey,
  request: PersonRequest,
): Promise<Html | undefined> => {
  const ofOrder = { ...everyLink, application, test, orderId };
  const found = await request.operations.links.list(ofOrder, firstPage);
  const rows = found.map((each) => ({ ...ownCells(each), ...otherCells(each) }));
  return partOf('Links', rows, request);
};

/** Whether this person has asked for what another one must confirm. */
const isOwn = ({ askedBy }: LinkRecord, { session }: Pick<PersonRequest, 'session'>): boolean =>
  askedBy !== null && isSamePerson(askedBy, session.name);

const actionsPart = (found: LinkRecord, request: PersonRequest): Html | '' => {
  const { id, status, toConfirm } = found;
  const { role, applications } = request.session;
  if (role !== 'admin' || applications !== null || status !== 'open') return '';
  return html`<div class="actions">
    ${toConfirm && !isOwn(found, request) ? action(`/links/${id}/confirm`, 'Confirm the link') : ''}
    ${action(`/links/${id}/disable`, 'Disable the link')}
  </div>`;
};

/** Everything that one signs for. */
const linkCells = ({ link: found, url }: LinkDetails): Row =>
  byLabel(linkFacts(found, url), {
    status: stateOf(found),
    application: applicationOf(found),
    payment: found.paymentId && idLink(`/payments/${found.paymentId}`, found.paymentId),
    url: url && html`<span class="id">${url}</span> ${copyable(url, 'Copy the address')}`,
  });

const heldNotice = (found: LinkRecord, request: PersonRequest): Html | '' =>
  found.toConfirm
    ? notice(
        'info',
        `${isOwn(found, request) ? 'You have' : `${found.askedBy} has`} asked for links above the amount of the rule. Another admin must confirm this one. Until then nobody can pay it.`,
      )
    : '';

export const linkRoutes = (deps: Pick<Deps, 'now'>): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, operations, session } = request;
    const status = choiceOf(query, 'status', states, { label: 'Status', of: 'linkStatus' });
    const orderId = query.readText('order', 100) ?? '';
    const filter: LinkFilter = {
      ...everyLink,
      ...readFilter(request, deps.now()),
      status: status.chosen === secondAdmin ? null : status.chosen,
      toConfirm: status.chosen === secondAdmin || null,
      orderId: orderId === '' ? null : orderId,
    };
    return listPage(request, {
      title: 'Links',
      path: '/links',
      choices: [status],
      texts: {
        fields: html`<label>
          Order
          <input name="order" maxlength="100" value="${orderId}" autocomplete="off" spellcheck="false" />
        </label>`,
      },
      chips: orderId === '' ? [] : [{ words: `Order: ${orderId}`, names: ['order'] }],
      application: filter.application,
      isSaved: true,
      listed: await findPage(
        request,
        (asked) => operations.links.list(filter, asked),
        ({ createdAt: at, id }) => ({ at, id }),
      ),
      rowOf: (found) => ({
        ...ownCells(found),
        Order: orderLink(found),
        Application: link(`/applications/${found.application}`, found.application),
        ...otherCells(found),
      }),
      ifEmpty: 'No link matches this filter.',
      parts: {
        first:
          session.role === 'admin' && session.applications === null
            ? html`<div class="actions">${action('/create-link', 'Make a link')}</div>`
            : '',
      },
    });
  };

  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const details = await request.operations.links.details(request.params.id);
    const { link: found, tries, event } = details;
    return thingPage('Link', found, {
      tab: 'Link for ',
      content: html`${headOf(found, stateOf(found))} ${heldNotice(found, request)} ${actionsPart(found, request)}
        ${request.cells.facts({ ...linkCells(details), Order: null, Amount: null })}
        ${serviceLinks(`link:${found.id}`, null, request)}
        <h2>Payments</h2>
        ${paymentTable(request, tries, 'Nobody has begun to pay it.')}
        ${event ? html`<h2 id="events">Events</h2>${eventsOfPayment([event], request)}` : ''}`,
    });
  };

  return [
    ...listRoutes('/links', list, 'list'),
    { method: 'GET', path: '/links/:id', role: 'viewer', owner: ofLink, handle: show },
  ];
};

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

/** Says before the link is made that another admin will have to confirm it. */
const warningOf = (request: PersonRequest): Promise<string | null> =>
  unlessRefused(async () => {
    const wanted = typedLink(request);
    const overRule = await request.operations.links.overRule(wanted);
    return overRule ? linkOverRuleText(overRule, wanted.currency) : null;
  });

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
    const { link: made } = await request.operations.links.create(typedLink(request), reason);
    return redirect(
      `/links/${made.id}`,
      made.toConfirm
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
    const { link: found } = details;
    if (!found.toConfirm) throw new Refusal('The link does not wait for a second admin.');
    return {
      title: 'Confirm the link',
      consequence: `Whoever has its address can pay ${formatMoney(found)}, once.`,
      button: 'Confirm the link',
      facts: linkCells(details),
      done: 'The link was confirmed.',
      back: `/links/${found.id}`,
    };
  },
  execute: ({ operations, params: { id } }, reason) => operations.links.confirm(id, reason),
};

export const linkActions: readonly Action[] = [makeLink, disable, confirm];
