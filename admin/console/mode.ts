import { html } from 'hono/html';
import {
  disputeIdPattern,
  eventIdPattern,
  linkIdPattern,
  paymentIdPattern,
  refundIdPattern,
  replayIdPattern,
} from '../../contract/ids.ts';
import type { ThingKind } from '../../postgres/console/queries.ts';
import { ownPath } from './begun-login.ts';
import type { Html } from './html.ts';
import { oneOf, type Query } from './query.ts';
import type { Deps, PersonRequest, Route } from './request.ts';

const modes = ['live', 'test'] as const;

const toTest = (mode: (typeof modes)[number] | null): boolean | undefined =>
  mode === null ? undefined : mode === 'test';

/** The mode that an address names, as Postgres has it. */
export const modeIn = (query: Query): boolean | undefined =>
  toTest(query.read('mode', oneOf(modes)));

export const modeName = (test: boolean): 'live' | 'test' => (test ? 'test' : 'live');

/** The name of a CSV file, which says it if it is of tests. */
export const fileName = (name: string, test: boolean): string =>
  `${name}${test ? '-test' : ''}.csv`;

/** With an id it has that request alone. */
export const requestsPath = '/applications/:slug/requests';

const thingOf = ({
  id = '',
  event = '',
  number = '',
}: Partial<PersonRequest['params']>): [ThingKind, string] | undefined => {
  if (paymentIdPattern.test(id)) return ['payment', id];
  if (refundIdPattern.test(id)) return ['refund', id];
  if (disputeIdPattern.test(id)) return ['dispute', id];
  if (linkIdPattern.test(id)) return ['link', id];
  if (replayIdPattern.test(id)) return ['replay', id];
  if (eventIdPattern.test(event)) return ['event', event];
  return /^\d{1,15}$/.test(number) ? ['difference', number] : undefined;
};

/**
 * The mode of the one thing that a page is about, whatever the person looks at. It follows from the address, so that no
 * page can forget to say it.
 * @returns undefined if the page is about no such thing, or about both modes
 */
export const modeOfThing = async (
  { queries }: Pick<Deps, 'queries'>,
  { path }: Pick<Route, 'path'>,
  { params, query }: Pick<PersonRequest, 'params' | 'query'>,
): Promise<boolean | undefined> => {
  // They take what a list has shown, also if the person has changed the mode in another tab.
  if (path === '/deliveries/replay' || path.startsWith('/orders/')) return modeIn(query);
  const request = path === requestsPath ? query.get('id') : null;
  const thing: [ThingKind, string] | undefined =
    request === null ? thingOf(params) : ['request', request];
  return thing && queries.findMode(...thing);
};

/** Works without a script, and leads back to the same page of the other mode. */
export const modeSwitch = ({
  csrf,
  test,
  address,
}: {
  csrf: string;
  test: boolean;
  address: string;
}): Html =>
  html`<form class="mode" method="post" action="/mode" aria-label="Live or test">
    <input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="back" value="${address}" />
    ${modes.map(
      (mode) =>
        html`<button name="mode" value="${mode}" aria-pressed="${mode === modeName(test) ? 'true' : 'false'}">${mode === 'test' ? 'Test' : 'Live'}</button>`,
    )}
  </form>`;

const bar = (kind: '' | 'real', words: string): Html =>
  html`<aside class="mode-bar ${kind}" aria-label="Mode">${words}</aside>`;

/** Says whose money the page is about, unless it is live as everything else. */
export const modeBar = (test: boolean, thing: boolean | undefined): Html => {
  if (thing === undefined || thing === test)
    return test
      ? bar('', 'Test mode: no real money. Every page, sum and file shows tests.')
      : html``;
  return thing
    ? bar('', 'This is a test: no real money. The lists show live payments.')
    : bar('real', 'This is live: real money. The lists show tests.');
};

/** The position in a list of one mode means nothing in the other. */
const beginningOf = (address: string): string => {
  const url = new URL(address, 'http://here');
  url.searchParams.delete('after');
  return url.pathname + url.search;
};

export const modeRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/mode',
    role: 'viewer',
    owner: 'person',
    handle: async ({ form }) => ({
      kind: 'redirect',
      to: beginningOf(ownPath(form.get('back'))),
      mode: modeName(toTest(oneOf(modes)(form.get('mode'))) ?? false),
    }),
  },
];
