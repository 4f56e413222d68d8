import { html } from 'hono/html';
import { linkStatuses } from '../../../contract/links/link.ts';
import { formatMoney } from '../../../contract/money.ts';
import type { OrderKey } from '../../../postgres/admin/orders.ts';
import { everyLink, type LinkFilter, type LinkRecord } from '../../../postgres/admin/links.ts';
import { isSamePerson } from '../../operations/confirmation.ts';
import { byLabel } from '../../operations/fact.ts';
import { linkFacts, linkState } from '../../operations/link-facts.ts';
import { secondAdmin } from '../../operations/link-labels.ts';
import type { LinkDetails } from '../../operations/links.ts';
import { choiceOf } from '../filter-bar.ts';
import { readFilter } from '../filters.ts';
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
import { ofLink } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { applicationOf, headOf, orderLink, serviceLinks, thingPage } from '../thing-page.ts';
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
export const linkCells = ({ link: found, url }: LinkDetails): Row =>
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
