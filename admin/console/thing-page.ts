import { html } from 'hono/html';
import { formatMoney } from '../../contract/money.ts';
import { copyable, cut, escapeControls, type Html, link, modeTag } from './html.ts';
import { modeName } from './mode.ts';
import { type ConsoleResponse, page, type PersonRequest } from './request.ts';

interface Thing {
  id: string;
  orderId: string;
  application: string;
  test: boolean;
  amount: number;
  currency: string;
}

/** The page of an order, or what is below it. The address has the order as a value, because it may have any character. */
export const orderPath = (
  { application, test, orderId }: Pick<Thing, 'application' | 'test' | 'orderId'>,
  below = '',
): string =>
  `/orders/${application}${below}?${String(new URLSearchParams({ mode: modeName(test), order: orderId }))}`;

/** An order in a list. */
export const orderLink = (thing: Pick<Thing, 'application' | 'test' | 'orderId'>): Html =>
  html`<a href="${orderPath(thing)}">${cut(thing.orderId)}</a>`;

/** The page of a payment or of what belongs to one. @param tab begins the title of the tab */
export const thingPage = (
  kind: string,
  { id, orderId, ...thing }: Thing,
  { tab = '', content }: { tab?: string; content: Html },
): ConsoleResponse => ({
  ...page(html`${kind} <span class="id">${id}</span> ${copyable(id, 'Copy the id')}`, content),
  tab: `${tab}${formatMoney(thing)} · ${escapeControls(orderId)}`,
});

/** Its money, its state and its order. */
export const headOf = (thing: Thing, state: Html): Html =>
  html`<div class="head">
    <p class="sum"><strong>${formatMoney(thing)}</strong> ${state} ${modeTag(thing.test)}</p>
    <p>Order ${link(orderPath(thing), thing.orderId)} ${copyable(thing.orderId, 'Copy the order')}</p>
  </div>`;

export const applicationOf = ({ application, test }: Pick<Thing, 'application' | 'test'>): Html =>
  html`${link(`/applications/${application}`, application)} ${modeTag(test)}`;

/** Links that only people of the whole service see. */
export const serviceLinks = (
  subject: string,
  workflowUrl: string | null,
  { session }: Pick<PersonRequest, 'session'>,
): Html | '' =>
  session.applications === null
    ? html`<p class="links">
        ${workflowUrl === null ? '' : html`<a href="${workflowUrl}" rel="noreferrer">Workflow in Temporal</a>`}
        ${link(`/audit?subject=${subject}`, 'Audit')}
      </p>`
    : '';
